"""`moldau explain`: why a decision is what it is, in words, without Spark."""

from __future__ import annotations

import click

from moldau.cli.options import (
    as_of_option,
    clock_option,
    cluster_option,
    format_option,
    pass_settings_of_moments,
)
from moldau.cli.output import write_dicts
from moldau.cli.say import say, warn
from moldau.declared.domain import Explained
from moldau.reading.explain.subjects import explained, group_of
from moldau.reading.health.freshness import freshness, held_words, stale_words
from moldau.settings import Settings


@click.command(name="explain")
@click.argument("subject", nargs=-1, required=True)
@cluster_option
@clock_option
@as_of_option
@format_option
@pass_settings_of_moments
def explain(
    settings: Settings,
    subject: tuple[str, ...],
    cluster: str | None,
    at_ms: int | None,
    as_of_ms: int | None,
    output_format: str,
) -> None:
    """Say why: the values seen, the threshold, what is in the way, and what changes it next.

    SUBJECT is `cleanup GROUP`, `sweep GROUP`, `offset GROUP TOPIC-PARTITION`, or a group id for
    everything about the group (with --as-of as they were at an instant); `tier TOPIC-PARTITION`
    explains a partition of tiered storage,
    `upload TOPIC-PARTITION BASE_OFFSET on BROKER` and `delete TOPIC-PARTITION SEGMENT_ID` one of
    its segments; `heartbeat REQUEST`, `push REQUEST`, `join REQUEST` and `deletion REQUEST [GROUP]`
    the answer to a request; `translation GROUP TOPIC-PARTITION [of FLOW]` the offset that a group
    would have on the other cluster, `target offset GROUP TARGET_TOPIC-PARTITION [of FLOW]` what it
    is given there; `metadata PRODUCER TOPIC` what becomes of a topic's metadata, `round PRODUCER`
    the next request. A group with spaces at its ends is quoted with its verb.

    \b
    Example:
      moldau explain cleanup orders-app
      moldau explain offset orders-app orders-0 --cluster east
      moldau explain orders-app --as-of 2026-11-24T09:00:00Z
      moldau explain tier orders-0
      moldau explain translation orders-app orders-0
      moldau explain metadata checkout orders
    """
    text = " ".join(subject)
    if as_of_ms is not None:
        _explain_as_of(settings, text, cluster, as_of_ms, output_format)
        return
    found = explained(settings.warehouse, text, cluster, at_ms)
    about = {row.get("cluster_id") for row in found.rows}
    known = [row for row in freshness(settings.warehouse, at_ms) if row["cluster_id"] in about]
    for words in (*held_words(known), *stale_words(known)):
        warn(words)
    _tell(found, output_format)


def _explain_as_of(
    settings: Settings, text: str, cluster: str | None, as_of_ms: int, output_format: str
) -> None:
    """Of a group and what is decided about it: the same answer, from a warehouse of that moment."""
    from moldau.runs.as_of import About, as_of

    subject = group_of(settings.warehouse, text, cluster)
    with as_of(settings, as_of_ms, About(subject.cluster_id, subject.group_id)) as moment:
        warn(moment.words)
        there = moment.settings.warehouse
        _tell(explained(there, text, subject.cluster_id, as_of_ms), output_format)


def _tell(found: Explained, output_format: str) -> None:
    if output_format == "table":
        for line in found.words:
            say(line)
    else:
        write_dicts(found.rows, output_format, found.columns)
