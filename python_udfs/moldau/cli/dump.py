"""`moldau dump`: a topic of a running cluster as a file."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from moldau.cli.held import require_number
from moldau.cli.options import format_option
from moldau.cli.output import write_rows
from moldau.cli.say import console, say, warn
from moldau.errors import MoldauError
from moldau.escapes import visible
from moldau.records.families import FAMILIES, family_of

_EXTRA = ("confluent_kafka", "cryptography", "javaproperties")
_COLUMNS = ("partition", "start_offset", "end_offset", "records", "hidden_offsets")


@click.command(name="dump")
@click.option(
    "--bootstrap-servers", metavar="HOST:PORT,...",
    help="Brokers to start with.  [default: bootstrap.servers of --properties]",
)  # fmt: skip
@click.option(
    "--properties", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
    help="How to log in (SASL, TLS), as Kafka's own tools take it by --command-config.",
)  # fmt: skip
@click.option("--topic", required=True, help="The topic, say __consumer_offsets.")
@click.option(
    "--to", "target", required=True, type=click.Path(path_type=Path), metavar="FILE",
    help="The file: .jsonl, .jsonl.gz or .parquet.",
)  # fmt: skip
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=20, show_default=True, metavar="SECONDS",
    callback=require_number,
    help="Give up when the cluster has been silent for so long.",
)  # fmt: skip
@format_option
def dump(
    bootstrap_servers: str | None,
    properties: Path | None,
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
    """
    try:
        from moldau.dumping.client_settings import client_settings
        from moldau.dumping.dump import dump as dump_topic
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _EXTRA:
            raise
        raise MoldauError(
            "`moldau dump` needs a Kafka client: pip install 'moldau[kafka]'"
        ) from None
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
        (each.extent.partition, each.extent.start, each.extent.end, each.records,
         each.extent.hidden)
        for each in dumped
    ]  # fmt: skip
    write_rows(_COLUMNS, rows, output_format)


@contextlib.contextmanager
def _progress(topic: str) -> Iterator[Callable[[int, int], None]]:
    """A bar of offsets on a terminal, else nothing."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.progress import Progress
    from rich.text import Text

    with Progress(console=console(err=True), transient=True) as progress:
        bar = progress.add_task(Text(visible(topic)).markup, total=None)
        yield lambda done, total: progress.update(bar, completed=done, total=total)
