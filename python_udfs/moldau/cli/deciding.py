"""What `moldau cycle` and `moldau sweep` have in common."""

from __future__ import annotations

import click

from moldau.cli.options import Command
from moldau.cli.output import write_rows
from moldau.cli.sessions import session_for
from moldau.instants import format_instant
from moldau.settings import Settings


def decide_and_tell(
    settings: Settings,
    kind: str,
    clusters: tuple[str, ...],
    at_ms: int | None,
    is_dry_run: bool,
    output_format: str,
    wait: float,
) -> None:
    """Run a kind once and print its counts, one row a count."""
    from moldau.runs.decide import decide
    from moldau.runs.run import now_ms

    with session_for(settings, f"moldau {kind}", wait) as session:
        run = decide(session, kind, clusters, now_ms() if at_ms is None else at_ms, is_dry_run)
    if output_format == "table":
        dry = ", dry run" if is_dry_run else ""
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


def dry_run_option(command: Command) -> Command:
    """Adds `--dry-run`; the command receives `dry_run`."""
    return click.option("--dry-run", is_flag=True, help="Decide only; nothing is applied.")(command)


def clusters_option(command: Command) -> Command:
    """Adds a repeatable `--cluster`; the command receives `clusters`, () = all."""
    return click.option(
        "--cluster", "clusters", multiple=True, metavar="NAME",
        help="Only this cluster; may be repeated.",
    )(command)  # fmt: skip
