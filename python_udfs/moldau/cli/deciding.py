"""The verbs that start one run: decide for some clusters at one instant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from moldau.cli.held import held_for, wait_option
from moldau.cli.options import at_option, clusters_option, format_option, pass_settings
from moldau.cli.output import write_dicts, write_rows
from moldau.cli.say import say, warn
from moldau.instants import format_instant, now_ms
from moldau.settings import Settings

if TYPE_CHECKING:
    from moldau.declared import Kind, Question
    from moldau.sessions.run import Run


def deciding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a verb that decides, and applies unless it is told not to.

    The command hands what it receives to `run_kinds`.
    """
    dry_run = click.option("--dry-run", is_flag=True, help="Decide only; nothing is applied.")
    for option in (pass_settings, wait_option, format_option, clusters_option, at_option, dry_run):
        command = option(command)
    return command


def deciding_verb(kind: Kind) -> click.Command:
    """The verb of a kind of run."""
    everywhere = kind.applies_everywhere
    whose = "The run" if everywhere else "Of clusters with `authority: moldau` the run"

    @click.command(
        name=kind.name,
        help=f"""Decide {kind.decides}.

        Every candidate gets a row in decisions.{kind.decisions} with its reason: see
        `moldau show` and `moldau explain`. All loaded records count; --at is the decision clock
        only.
        {whose} then {kind.applies}.

        \b
        Example:
          moldau {kind.name} --dry-run --at 2026-11-21T08:00:00Z
        """,
    )
    @deciding_options
    def verb(settings: Settings, **options: Any) -> None:
        asked = {question: options.pop(question.parameter) for question in kind.questions}
        if any(asked.values()):
            _answer(settings, asked, **options)
        else:
            run_kinds(settings, f"moldau {kind.name}", [kind.name], **options)

    for question in kind.questions:
        option = click.Option(
            [question.option],
            multiple=True,
            metavar=question.metavar,
            help=question.help,
        )
        verb.params.append(option)
    return verb


def _answer(
    settings: Settings,
    asked: Mapping[Question, tuple[str, ...]],
    clusters: tuple[str, ...],
    at_ms: int | None,
    output_format: str,
    **_of_runs: Any,
) -> None:
    """What was asked of a verb instead of a run."""
    for question, values in asked.items():
        if values:
            write_dicts(question.answer(settings, values, clusters, at_ms), output_format)


def run_kinds(
    settings: Settings,
    command: str,
    kinds: Sequence[str],
    clusters: tuple[str, ...],
    at_ms: int | None,
    dry_run: bool,
    output_format: str,
    wait: float,
) -> None:
    """Runs of these kinds at one instant, each on what the one before applied; tell what they did.

    Ends the command with exit code 2 if a plugin call failed, also one of a run that was
    interrupted and is finished first.
    """
    from moldau.sessions.run import failed_calls

    at_ms = now_ms() if at_ms is None else at_ms
    with held_for(settings, command, wait) as held:
        held.failed_calls = 0
        runs = [held.decide(settings, kind, clusters, at_ms, dry_run) for kind in kinds]
        failed = held.failed_calls + sum(map(failed_calls, runs))
    _tell(runs, output_format)
    if failed:
        warn(f"{failed} plugin calls failed: see marts.plugin_calls")
        click.get_current_context().exit(2)


def _tell(runs: Sequence[Run], output_format: str) -> None:
    if output_format == "table":
        for run in runs:
            dry = ", dry run" if run.is_dry_run else ""
            by = f" by {run.engine}" if run.engine else ", as nothing has changed since"
            say(f"{run.run_id} decided at {format_instant(run.at_ms)}{by}{dry}")
            write_rows(("count", "subjects"), list(run.counts.items()), "table")
        return
    rows = [
        {
            "run_id": run.run_id,
            "cluster_ids": run.cluster_ids,
            "decided_at_ms": run.at_ms,
            "is_dry_run": run.is_dry_run,
            "engine": run.engine,
            **run.counts,
        }
        for run in runs
    ]
    write_dicts(rows, output_format)
