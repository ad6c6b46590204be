"""The command line: `moldau VERB`.

Exit codes: 0 fine; 1 the request was wrong or refused; 2 done with findings; 3 internal error.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from moldau.errors import MoldauError

REFUSED, FINDINGS, INTERNAL = 1, 2, 3

# verb -> what it does, in one line: `--help` need not import every verb
VERBS = {
    "demo": "The main job on a bundled capture of a real broker, as a story.",
    "init": "Create the warehouse.",
    "load": "Load files: raw, decoded and folded into state.",
    "decode": "Print records, decoded, as JSON Lines.",
    "cycle": "Decide which topology descriptions are released, and release them.",
    "sweep": "Decide which offsets and groups go, and remove them.",
    "tiers": "Decide what waits to be uploaded to or deleted from tiered storage.",
    "run": "A cycle, a sweep and a run of tiers, at one instant.",
    "watch": "Cycles and sweeps on each cluster's check interval, until SIGTERM.",
    "compare": "Decide under two rule sets and show what differs.",
    "what-if": "Decide under other settings and show what differs.",
    "exec": "Run a file of verbs, one a line, in one session.",
    "explain": "Say in words why something is decided as it is.",
    "show": "Print a table.",
    "sql": "Print the answer to a query.",
    "export": "Write a table to a file.",
    "status": "Show what the warehouse holds and what happened last.",
    "doctor": "Check Java, jars, settings and every table.",
}


class Verbs(click.Group):
    """Imports a verb's module only when that verb is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        name = f"{cmd_name}_verb" if cmd_name in ("exec", "run") else cmd_name.replace("-", "_")
        command: click.Command = getattr(import_module(f"moldau.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


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
    """


def main(arguments: Sequence[str] | None = None) -> None:
    sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))


def run(arguments: list[str], obj: Any = None) -> int:
    """One command; gives its exit code."""
    try:
        code = moldau.main(arguments, prog_name="moldau", standalone_mode=False, obj=obj)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as finished:
        return int(finished.exit_code)
    except click.UsageError as error:
        hint = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
        return _refuse(f"{error.format_message()}{hint}")
    except click.ClickException as error:
        return _refuse(error.format_message())
    except MoldauError as error:
        return _refuse(str(error))
    except (KeyboardInterrupt, click.Abort):
        return _refuse("interrupted")
    except Exception as error:
        click.echo(f"internal error: {error}", err=True)
        traceback.print_exc()
        return INTERNAL


def _refuse(message: str) -> int:
    click.echo(f"moldau: {' '.join(message.split())}", err=True)
    return REFUSED
