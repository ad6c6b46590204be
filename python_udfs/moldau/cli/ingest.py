"""`moldau ingest`: what is new in the logs of a live cluster, into raw, decoded and state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moldau.cli.held import session_for, wait_option
from moldau.cli.lines import Lines
from moldau.cli.load import COLUMNS, row_of, say_oddities
from moldau.cli.options import format_option, pass_settings
from moldau.cli.output import write_rows
from moldau.cli.reaching import needs_client, reach_options, timeout_option
from moldau.cli.say import warn
from moldau.errors import MoldauError
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
    is named in marts.freshness. A topic that was created anew is refused.

    --continuous holds the warehouse only while it loads, and tries again when the cluster is
    away. Needs the extra `kafka`: pip install 'moldau[kafka]'.

    \b
    Example:
      moldau ingest --cluster east --bootstrap-servers broker:9092
      moldau ingest --cluster east --properties client.properties --continuous
    """
    settings.cluster(cluster)
    named = [name for name in (topics or "").split(",") if name]
    with needs_client(COMMAND):
        from moldau.dumping.reached import reach
        from moldau.dumping.source import connected
    source = connected(reach(settings, cluster, bootstrap_servers, properties), timeout, warn)
    if not is_once:
        _go_on(settings, cluster, source, named, output_format, interval)
        return
    loads = list(_poll(settings, cluster, source, named, wait))
    rows = [row_of(loaded, output_format) for loaded in loads]
    write_rows(COLUMNS, [tuple(row.values()) for row in rows], output_format)
    if any(loaded.rows_refused for loaded in loads):
        click.get_current_context().exit(2)


def _poll(
    settings: Settings, cluster: str, source: Source, named: Sequence[str], wait: float = 0
) -> Iterator[Loaded]:
    """One poll. The warehouse is locked only if there is something to read."""
    from moldau.runs.ingest import NOTHING, look, topics_of
    from moldau.runs.ingest import ingest as ingest_topics

    if not (topics := topics_of(source, named)):
        raise MoldauError(NOTHING)
    if is_initialised(settings.warehouse.resolve()):
        seen = look(settings.warehouse.resolve(), cluster, source, topics, lambda _: None)
        if not seen.has_unread:
            return
    with session_for(settings, COMMAND, wait) as session:
        for loaded in ingest_topics(session, cluster, source, topics, warn):
            say_oddities(loaded)
            yield loaded


def _go_on(
    settings: Settings,
    cluster: str,
    source: Source,
    named: Sequence[str],
    output_format: str,
    interval: float,
) -> None:
    """Until SIGTERM or Ctrl-C. What one poll could not do the next one tries again."""
    from moldau.sessions.shutdown import Signals

    signals = Signals()
    signals.listen()
    lines = Lines(output_format, _in_words)
    while not signals.is_received:
        try:
            for loaded in _poll(settings, cluster, source, named):
                lines.write(row_of(loaded, output_format))
                if signals.is_received:
                    return
        except (MoldauError, WarehouseInUse) as error:
            warn(f"{error}; the next poll tries again")
        signals.wait(int(interval * 1000))


def _in_words(row: dict[str, Any]) -> str:
    """`00000007-load  east: 40 new records, 2 already there, 0 refused`."""
    return (
        f"{row['run_id']}  {row['cluster_id']}: {row['rows_new']} new records, "
        f"{row['rows_already_there']} already there, {row['rows_refused']} refused"
    )
