"""`moldau ingest`: what is new in the logs of a live cluster, into raw, decoded and state."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moldau.cli.held import session_for, wait_option
from moldau.cli.lines import Lines
from moldau.cli.load import COLUMNS, row_of, say_oddities
from moldau.cli.options import format_option, pass_settings
from moldau.cli.output import write_dicts
from moldau.cli.reaching import needs_client, reach_options, timeout_option
from moldau.cli.say import warn
from moldau.errors import MoldauError
from moldau.sessions.shutdown import ShutdownRequested, Signals, stops_when
from moldau.settings import Settings
from moldau.warehouse.create import is_initialised
from moldau.warehouse.lock import WarehouseInUse

if TYPE_CHECKING:
    from moldau.loading.bring import Loaded
    from moldau.warehouse.log_spans import Source

COMMAND = "moldau ingest"


@click.command(name="ingest")
@click.option("--cluster", required=True, metavar="NAME", help="The cluster's name here.")
@reach_options
@timeout_option
@click.option(
    "--topics", metavar="NAME,...",
    help="Topics to read.  [default: all internal ones that moldau decodes]",
)  # fmt: skip
@click.option(
    "--once/--continuous", "is_once", default=True, show_default=True,
    help="Read what is there now, or go on until SIGTERM.",
)  # fmt: skip
@click.option(
    "--interval", type=click.FloatRange(min=0.1), default=5, show_default=True, metavar="SECONDS",
    help="Between two polls of --continuous.",
)  # fmt: skip
@format_option
@wait_option
@pass_settings
def ingest(
    settings: Settings,
    cluster: str,
    bootstrap_servers: str | None,
    properties: Path | None,
    timeout: float,
    topics: str | None,
    is_once: bool,
    interval: float,
    output_format: str,
    wait: float,
) -> None:
    """Read __consumer_offsets, __remote_log_metadata and MirrorMaker's topics of a live cluster.

    From where the last one stopped, committed records alone, each exactly once: decoded and
    folded into state like those of files. Joins no group and writes nothing to the cluster; it
    needs READ and DESCRIBE on the topics. A partition of which an open transaction hides the end
    is named in marts.freshness. A topic that was created anew or may not be READ is named and left
    out, and the exit code is 2; another __consumer_offsets than before is refused: it is another
    cluster.

    --continuous holds the warehouse only while it loads, and tries again when the cluster is
    away. Needs the extra `kafka`: pip install 'moldau[kafka]'.

    \b
    Example:
      moldau ingest --cluster east --bootstrap-servers broker:9092
      moldau ingest --cluster east --properties client.properties --continuous
    """
    settings.cluster(cluster)
    named = _named(topics)
    with needs_client(COMMAND):
        from moldau.dumping.reached import reach
        from moldau.dumping.source import connected
    signals = Signals()
    if not is_once:
        signals.listen()
    source = connected(reach(settings, cluster, bootstrap_servers, properties), timeout, warn)
    if not is_once:
        _go_on(settings, cluster, source, named, output_format, interval, signals)
        return
    left_out: list[str] = []
    loads = list(_poll(settings, cluster, source, named, left_out.append, wait))
    rows = [row_of(loaded, output_format) for loaded in loads]
    write_dicts(rows, output_format, COLUMNS)
    for line in left_out:
        warn(line)
    if left_out or any(loaded.rows_refused for loaded in loads):
        click.get_current_context().exit(2)


def _named(topics: str | None) -> list[str]:
    """Those of --topics; none = all."""
    if topics is None:
        return []
    named = [name for name in map(str.strip, topics.split(",")) if name]
    if not named:
        raise MoldauError(
            "--topics names no topic: NAME,... are read; without the option all internal ones "
            "that moldau decodes are"
        )
    return named


def _poll(
    settings: Settings,
    cluster: str,
    source: Source,
    named: Sequence[str],
    leave_out: Callable[[str], None],
    wait: float = 0,
) -> Iterator[Loaded]:
    """One poll. The warehouse is locked only if there is something to read.

    `leave_out` is told of each topic that cannot be read."""
    from moldau.runs.ingest import NOTHING, look, topics_of
    from moldau.runs.ingest import ingest as ingest_topics

    if not (topics := topics_of(source, named)):
        raise MoldauError(NOTHING)
    if is_initialised(settings.warehouse.resolve()):
        seen = look(settings.warehouse.resolve(), cluster, source, topics, lambda _: None)
        if not seen.has_unread:
            for line in seen.left_out:
                leave_out(line)
            return
    with session_for(settings, COMMAND, wait) as session:
        for loaded in ingest_topics(session, cluster, source, topics, warn, leave_out=leave_out):
            say_oddities(loaded)
            yield loaded


def _go_on(
    settings: Settings,
    cluster: str,
    source: Source,
    named: Sequence[str],
    output_format: str,
    interval: float,
    signals: Signals,
) -> None:
    """Until SIGTERM or Ctrl-C. What one poll could not do the next one tries again.

    What is left out is told when it changes."""
    lines = Lines(output_format, _in_words)
    told: list[str] = []
    with stops_when(lambda: signals.is_received), contextlib.suppress(ShutdownRequested):
        while not signals.is_received:
            left_out: list[str] = []
            try:
                for loaded in _poll(settings, cluster, source, named, left_out.append):
                    lines.write(row_of(loaded, output_format))
                    if signals.is_received:
                        return
            except (MoldauError, WarehouseInUse) as error:
                warn(f"{error}; the next poll tries again")
            for line in left_out:
                if line not in told:
                    warn(line)
            told = left_out
            signals.wait(int(interval * 1000))


def _in_words(row: dict[str, Any]) -> str:
    """`00000007-load  east: 40 new records, 2 already there, 0 refused`."""
    return (
        f"{row['run_id']}  {row['cluster_id']}: {row['rows_new']} new records, "
        f"{row['rows_already_there']} already there, {row['rows_refused']} refused"
    )
