"""`moldau dump`: a topic of a running cluster as a file."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from moldau.cli.options import format_option
from moldau.cli.output import write_rows
from moldau.cli.progress import hide
from moldau.cli.reaching import needs_client, reach_options, timeout_option
from moldau.cli.say import console, say, warn
from moldau.escapes import visible
from moldau.records.families import FAMILIES, family_of
from moldau.settings import load_settings

_COLUMNS = ("partition", "start_offset", "end_offset", "records", "hidden_offsets")


@click.command(name="dump")
@reach_options
@click.option(
    "--cluster", metavar="NAME",
    help="The cluster as moldau.yml says how to reach it.  [default: none]",
)  # fmt: skip
@click.option(
    "--config", type=click.Path(path_type=Path),
    help="Settings file, for --cluster.  [default: ./moldau.yml, if it is there]",
)  # fmt: skip
@click.option("--topic", required=True, help="The topic, say __consumer_offsets.")
@click.option(
    "--to", "target", required=True, type=click.Path(path_type=Path), metavar="FILE",
    help="The file: .jsonl, .jsonl.gz or .parquet.",
)  # fmt: skip
@timeout_option
@format_option
def dump(
    bootstrap_servers: str | None,
    properties: Path | None,
    cluster: str | None,
    config: Path | None,
    topic: str,
    target: Path,
    timeout: float,
    output_format: str,
) -> None:
    """Read a topic once, from its start to the ends that it has now, into a file for `load`.

    Reads with isolation.level=read_committed, joins no group, commits and writes nothing. The
    file appears when it is complete. A partition of which an open transaction hides the end is
    named on stderr. Needs the extra `kafka`: pip install 'moldau[kafka]'.

    \b
    Example:
      moldau dump --bootstrap-servers broker:9092 --topic __consumer_offsets --to offsets.jsonl.gz
      moldau dump --properties client.properties --topic __remote_log_metadata --to tiers.jsonl.gz
      moldau dump --cluster east --topic __consumer_offsets --to offsets.jsonl.gz
    """
    with needs_client("moldau dump"):
        from moldau.dumping.client_settings import client_settings
        from moldau.dumping.dump import dump as dump_topic
        from moldau.dumping.reached import reach
    if config and not cluster:
        raise click.UsageError("--config says how to reach a --cluster, and none is named")
    if cluster:
        known = load_settings(config, checks_plugins=False)
        settings = reach(known, cluster, bootstrap_servers, properties)
    else:
        settings = client_settings(bootstrap_servers, properties)
    for warning in settings.warnings:
        warn(warning)
    with _progress(topic) as tell:
        dumped = dump_topic(settings, topic, target, timeout, warn, tell)
    if family_of(topic) not in FAMILIES:
        warn(f"{topic} is no topic that moldau decodes: `load` keeps its records as bytes")
    if output_format == "table":
        say(f"{sum(each.records for each in dumped)} records written to {target}")
    rows = [
        (each.span.partition_index, each.span.start, each.span.end, each.records, each.span.hidden)
        for each in dumped
    ]
    write_rows(_COLUMNS, rows, output_format)


@contextlib.contextmanager
def _progress(topic: str) -> Iterator[Callable[[int, int], None]]:
    """A bar of offsets on a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.progress import Progress
    from rich.text import Text

    hide()  # the bar says more
    with Progress(console=console(err=True), transient=True) as progress:
        bar = progress.add_task(Text(visible(topic)).markup, total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
