"""`moldau watch`: cycles and sweeps on each cluster's own check interval."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from moldau.cli.bringing import Bringing
from moldau.cli.lines import Lines
from moldau.cli.options import clusters_option, format_option, pass_settings
from moldau.cli.reaching import timeout_option
from moldau.cli.say import warn
from moldau.instants import format_instant
from moldau.settings import Settings

if TYPE_CHECKING:
    from moldau.runs.watch import Timer


@click.command(name="watch")
@pass_settings
@clusters_option
@format_option
@timeout_option
@click.option(
    "--ticks",
    type=click.IntRange(min=1),
    metavar="N",
    help="End after N ticks have had their turn.  [default: go on until SIGTERM]",
)
def watch(
    settings: Settings,
    clusters: tuple[str, ...],
    output_format: str,
    ticks: int | None,
    timeout: float,
) -> None:
    """Run cycles and sweeps by the clock, until SIGTERM or Ctrl-C.

    Each cluster has its own `offsets.retention.check.interval.ms`; its first tick comes one
    interval after the start. Only a cluster with a plugin has cycles. One line a run on stdout.

    Of a cluster that moldau.yml says how to reach (`moldau cluster add`) each interval first reads
    what is new in its logs, and asks for what only an admin client is told. A cluster that is away
    is named, and asked again at each tick.

    A tick that comes while the one before it is still in flight, or while another command holds
    the warehouse, is dropped and recorded in state.runs with status skipped_in_flight; while a
    cluster is away, only the first of a kind is. The warehouse is locked only inside a tick. A run
    that is going on when the signal comes stops between two stages, and the next command finishes
    it.

    \b
    Example:
      moldau watch --cluster east --format json
    """
    from moldau.sessions.shutdown import Signals, stops_when

    signals = Signals()
    signals.listen()
    from moldau.engines.spark.connected import remote_of
    from moldau.engines.spark.jars import jars_folder
    from moldau.engines.spark.java import find_java
    from moldau.runs.ticks import WarehouseTicks
    from moldau.runs.watch import Watch

    # one day the tables may not fit into memory
    if settings.engine != "duckdb" and not remote_of(settings.spark):
        find_java()
        jars_folder()
    tell = Lines(output_format, _in_words)
    live = Bringing(settings, timeout, warn)
    runs = WarehouseTicks(settings, clusters, tell.write, warn, signals.listen, live)
    warn(f"watching {_counted(runs.timers())}")
    try:
        with stops_when(lambda: signals.is_received):
            Watch(runs, lambda: time.monotonic_ns() // 1_000_000, signals.wait).run(ticks)
    except KeyboardInterrupt:
        pass  # Spark's own handler was there while it started
    if runs.unrecorded:
        warn(f"{len(runs.unrecorded)} skipped ticks are not recorded: the warehouse is in use")


def _counted(timers: Sequence[Timer]) -> str:
    """`2 clusters, 1 with cycles; first tick at 2026-11-21T08:10:00Z`."""
    clusters = len({timer.cluster_id for timer in timers})
    cycles = sum(timer.kind == "cycle" for timer in timers)
    first_ms = time.time_ns() // 1_000_000 + min(timer.interval_ms for timer in timers)
    noun = "cluster" if clusters == 1 else "clusters"
    return f"{clusters} {noun}, {cycles} with cycles; first tick at {format_instant(first_ms)}"


def _in_words(row: dict[str, Any]) -> str:
    """`00000007-sweep  east  decided at 2026-11-21T08:00:00Z: decided 3, keep 3`."""
    subject = f"{row['run_id']}  {', '.join(row['cluster_ids'])}"
    counts = ", ".join(f"{name} {count}" for name, count in row["counts"].items())
    if row["decided_at_ms"] is None:
        return f"{subject}  {counts or row['status']}"
    return f"{subject}  decided at {format_instant(row['decided_at_ms'])}: {counts}"
