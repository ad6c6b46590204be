"""The command line: `moldau VERB`.

Exit codes: 0 fine; 1 the request was wrong or refused; 2 done with findings; 3 internal error;
4 the warehouse is in use by another command.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from moldau.cli.failures import keep_panic, speak_any_letter, tell, works_on, write_whole
from moldau.cli.leaving import leave
from moldau.cli.native import panics_go_to
from moldau.cli.options import with_quiet
from moldau.cli.progress import shown
from moldau.cli.say import Data, be_quiet, say_what_libraries_say
from moldau.declared import domains, kinds
from moldau.errors import MoldauError


def verbs() -> dict[str, str]:
    """Verb -> what it does, in one line: `--help` need not import every verb."""
    of_domains = {kind.name: kind.summary for kind in kinds().values()}
    for domain in domains():
        of_domains |= domain.verbs
    return _TO_LOAD | of_domains | _FOR_ALL


_TO_LOAD = {
    "demo": "The main job on a bundled capture of a real broker, as a story.",
    "init": "Create the warehouse.",
    "dump": "Read a topic of a running cluster into a file that `load` takes.",
    "cluster": "Say in moldau.yml how a running cluster is reached, and check what it tells.",
    "collect": "Take in what only an admin client of a running cluster tells.",
    "ingest": "Read what is new in the logs of a running cluster, once or continuously.",
    "load": "Load files: raw, decoded and folded into state.",
    "decode": "Print records, decoded, as JSON Lines.",
}
_FOR_ALL = {
    "run": "Every kind of run, one after the other, at one instant.",
    "watch": "Cycles and sweeps on each cluster's check interval, until SIGTERM.",
    "compare": "Decide under two rule sets and show what differs.",
    "exec": "Run a file of verbs, one a line, in one session.",
    "explain": "Say in words why something is decided as it is.",
    "show": "Print a table or mart.",
    "sql": "Print the answer to a query.",
    "export": "Write a table to a file.",
    "serve": "Show it all in a browser, on this machine.",
    "report": "Write the overview as one HTML file that opens offline.",
    "metrics": "Print what Prometheus reads: lag, expiry, what is held, and more.",
    "publish": "Write marts as Delta tables, for those who read files.",
    "maintain": "Join small files, and delete those that nobody needs any more.",
    "status": "Show what the warehouse holds and what happened last.",
    "doctor": "Check Java, jars, settings and every table.",
}


class Verbs(click.Group):
    """Imports a verb's module only when that verb is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(verbs())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in verbs():
            return None
        if cmd_name in kinds():
            from moldau.cli.deciding import deciding_verb

            return with_quiet(deciding_verb(kinds()[cmd_name]))
        name = f"{cmd_name}_verb" if cmd_name in ("exec", "run") else cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"moldau.cli.{name}"), name)
        return with_quiet(command)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:  # click itself would end the process with 1
            return tell(error, [])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in verbs() and not args[0].startswith("-"):
            from moldau.settings.problems import suggestion

            ctx.fail(f"there is no verb {args[0]!r}{suggestion(args[0], verbs())}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(verbs().items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="moldau")
@click.pass_context
def moldau(context: click.Context) -> None:
    """Kafka's lifecycle decisions: visible, explainable, replayable.

    \b
    Example:
      moldau demo
      moldau load records.jsonl --cluster east --kind records
      moldau cycle --dry-run
      moldau explain my-app

    \b
    Exit codes:
      0  fine
      1  the request was wrong or refused: one line on stderr says why
      2  done, with findings: refused lines, failed plugin calls
      3  internal error: the traceback is in WAREHOUSE/_moldau/errors.log
      4  the warehouse is in use by another command: try again, or --wait
    """


def main(arguments: Sequence[str] | None = None) -> None:
    write_whole()
    speak_any_letter()
    say_what_libraries_say()
    words = list(sys.argv[1:] if arguments is None else arguments)
    with panics_go_to(keep_panic):
        with shown(next((word for word in words if word in verbs()), None)):
            code = run(words)
        try:
            Data.flush()
        except OSError as error:  # what cannot be written is told, too
            code = max(code, tell(error, words))
    leave(code)


def run(arguments: list[str], obj: Any = None) -> int:
    """One command; gives its exit code. `obj`: what `moldau exec` holds."""
    if obj is None:
        works_on(None)
    be_quiet(False)
    try:
        if any("\0" in word for word in arguments):  # in a line of `moldau exec`
            raise MoldauError("no word of a command can hold a NUL byte; SQL has chr(0)")
        code = moldau.main(arguments, prog_name="moldau", standalone_mode=False, obj=obj)
    except click.exceptions.Exit as finished:
        return int(finished.exit_code)
    except (Exception, KeyboardInterrupt) as error:
        return tell(error, arguments)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # of a native library
            raise
        return tell(error, arguments)
    return code if isinstance(code, int) else 0
