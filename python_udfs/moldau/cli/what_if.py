"""`moldau what-if`: decide under other settings, and apply nothing."""

from __future__ import annotations

import click

from moldau.cli.held import session_for, wait_option
from moldau.cli.options import at_option, clusters_option, format_option, pass_settings
from moldau.cli.output import write_rows
from moldau.settings import Settings


@click.group(name="what-if")
def what_if() -> None:
    """See what other settings would decide before anybody changes them.

    \b
    Example:
      moldau what-if tiers --topic orders --set retention.ms=86400000
    """


@what_if.command(name="tiers")
@click.option("--topic", required=True, help="Topic whose configs are others.")
@click.option(
    "--set", "configs", multiple=True, required=True, metavar="CONFIG=VALUE",
    help="A topic config of Kafka and its value; may be repeated.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(["partition", "segment"]), default="partition", show_default=True,
    help="Every partition of the topic, or the segments that are decided otherwise.",
)  # fmt: skip
@at_option
@clusters_option
@format_option
@wait_option
@pass_settings
def tiers(
    settings: Settings,
    topic: str,
    configs: tuple[str, ...],
    by: str,
    clusters: tuple[str, ...],
    at_ms: int | None,
    output_format: str,
    wait: float,
) -> None:
    """Decide about tiered storage as if a topic had other configs, and show the difference.

    Columns that end in _then are what would be; nothing is applied, and no decision is stored.

    \b
    Example:
      moldau what-if tiers --topic orders --set retention.ms=86400000 --set retention.bytes=-1
      moldau what-if tiers --topic orders --set remote.copy.lag.ms=3600000 --by segment
    """
    wanted = dict(_pair(text) for text in configs)
    from moldau.instants import now_ms
    from moldau.runs.what_if import PARTITION_COLUMNS, SEGMENT_COLUMNS
    from moldau.runs.what_if import what_if as decide_otherwise

    by_segment = by == "segment"
    with session_for(settings, "moldau what-if", wait) as session:
        decided_at_ms = now_ms() if at_ms is None else at_ms
        rows = decide_otherwise(session, topic, wanted, clusters, decided_at_ms, by_segment)
    write_rows(SEGMENT_COLUMNS if by_segment else PARTITION_COLUMNS, rows, output_format)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise click.UsageError(f"--set {text!r} is not CONFIG=VALUE")
    return name.strip(), value.strip()
