"""The verbs that are one run of a kind: decide for some clusters at one instant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from moldau.cli.options import at_option, format_option, pass_settings
from moldau.cli.output import write_rows
from moldau.cli.sessions import session_for, wait_option
from moldau.instants import format_instant
from moldau.settings import Settings


def clusters_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds a repeatable `--cluster`; the command receives `clusters`, () = all."""
    return click.option(
        "--cluster",
        "clusters",
        multiple=True,
        metavar="NAME",
        help="Only this cluster; may be repeated.",
    )(command)


def deciding_verb(kind: str, decides: str, applies: str, table: str) -> click.Command:
    """The verb `moldau KIND`; `decides` and `applies` end sentences of its help."""

    @click.command(
        name=kind,
        help=f"""Decide {decides}.

        Every candidate gets a row in decisions.{table} with its reason: see `moldau show` and
        `moldau explain`. All loaded records count; --at is the decision clock only.
        Of clusters with `authority: moldau` the run then {applies}.

        \b
        Example:
          moldau {kind} --dry-run --at 2026-11-21T08:00:00Z
        """,
    )
    @click.option("--dry-run", is_flag=True, help="Decide only; nothing is applied.")
    @at_option
    @clusters_option
    @format_option
    @wait_option
    @pass_settings
    def verb(
        settings: Settings,
        clusters: tuple[str, ...],
        at_ms: int | None,
        dry_run: bool,
        output_format: str,
        wait: float,
    ) -> None:
        from moldau.runs.apply import FAILURES
        from moldau.runs.decide import decide
        from moldau.runs.run import now_ms

        with session_for(settings, f"moldau {kind}", wait) as session:
            run = decide(session, kind, clusters, now_ms() if at_ms is None else at_ms, dry_run)
        if output_format == "table":
            dry = ", dry run" if dry_run else ""
            click.echo(f"{run.run_id} decided at {format_instant(run.at_ms)}{dry}")
            write_rows(("count", "subjects"), list(run.counts.items()), "table")
        else:
            row = {
                "run_id": run.run_id,
                "cluster_ids": run.cluster_ids,
                "decided_at_ms": run.at_ms,
                "is_dry_run": run.is_dry_run,
                **run.counts,
            }
            write_rows(list(row), [list(row.values())], output_format)
        failed = sum(run.counts.get(name, 0) for name in FAILURES)
        if failed:
            click.echo(f"moldau: {failed} plugin calls failed: see marts.plugin_calls", err=True)
            click.get_current_context().exit(2)

    return verb
