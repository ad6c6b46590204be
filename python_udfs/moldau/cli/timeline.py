"""`moldau timeline`: the past of a group as a story, without Spark."""

from __future__ import annotations

import click

from moldau.cli.options import (
    as_of_option,
    cluster_option,
    format_option,
    optional_instant,
    pass_settings_to_read,
)
from moldau.cli.output import write_dicts
from moldau.cli.say import draw, is_terminal, say
from moldau.errors import MoldauError
from moldau.reading.explain.timeline import timeline as timeline_of
from moldau.reading.explain.timeline_words import Told, foot, head, in_words
from moldau.settings import Settings


@click.command(name="timeline")
@click.argument("group")
@cluster_option
@click.option("--topic", metavar="TOPIC", help="Only this topic, and the group as a whole.")
@optional_instant("--from", "from_ms", "Nothing that was over before")
@optional_instant("--to", "to_ms", "Nothing that began later")
@as_of_option
@format_option
@pass_settings_to_read
def timeline(
    settings: Settings,
    group: str,
    cluster: str | None,
    topic: str | None,
    from_ms: int | None,
    to_ms: int | None,
    as_of_ms: int | None,
    output_format: str,
) -> None:
    """Tell what happened to GROUP, event by event, with the record that proves it.

    Commits in a row are one event. A deletion says why: RETENTION, its time was up by the settings
    in force; BEFORE_DUE, somebody deleted it; UNKNOWN, what decides is not in the records.

    \b
    Example:
      moldau timeline orders-app
      moldau timeline orders-app --topic orders --from 2026-11-20 --to 2026-11-22T12:00:00Z
      moldau timeline orders-app --format csv
    """
    if from_ms is not None and to_ms is not None and from_ms > to_ms:
        raise MoldauError("--from is after --to: there is no time between them")
    found = timeline_of(settings.warehouse, group, cluster, topic, from_ms, to_ms, as_of_ms)
    if output_format != "table":
        write_dicts(found.events, output_format, found.columns)
        return
    say(head(found))
    say()
    story = list(in_words(found))
    width = max((len(told.instant) for told in story), default=0)
    for told in story:
        _tell(told, width)
    if not story:
        say("nothing happened in this time")
    if last := foot(found):
        say()
        say(last)


def _tell(told: Told, width: int) -> None:
    evidence = f"  [{told.evidence}]" if told.evidence else ""
    if not is_terminal():
        say(f"{told.instant:<{width}}  {told.words}{evidence}")
        return
    from rich.table import Table
    from rich.text import Text

    line = Table.grid(padding=(0, 2))
    line.add_row(
        Text(f"{told.instant:<{width}}", style="dim"),
        Text.assemble((told.words, "bold red" if told.is_loss else ""), (evidence, "dim")),
    )
    draw(line)
