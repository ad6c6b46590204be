"""`moldau explain`: why a decision is what it is, in words, without Spark."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from moldau.cli.options import (
    clock_option,
    cluster_option,
    format_option,
    pass_settings_to_read,
)
from moldau.cli.output import write_rows
from moldau.settings import Settings

if TYPE_CHECKING:
    from moldau.reading.explain import Explanation
    from moldau.reading.explain_tier import TierExplanation

_COLUMNS = (
    "cluster_id",
    "subject",
    "decision",
    "reason_code",
    "reason_text",
    "blocked_by",
    "next_change_at_ms",
    "decided_at_ms",
    "ruleset",
    "run_id",
)


@click.command(name="explain")
@click.argument("subject", nargs=-1, required=True)
@cluster_option
@clock_option
@format_option
@pass_settings_to_read
def explain(
    settings: Settings,
    subject: tuple[str, ...],
    cluster: str | None,
    at_ms: int | None,
    output_format: str,
) -> None:
    """Say why: the values seen, the threshold, what is in the way, and what changes it next.

    SUBJECT is `cleanup GROUP`, `sweep GROUP`, `offset GROUP TOPIC-PARTITION`, or a group id for
    everything about the group; `tier TOPIC-PARTITION` explains a partition of tiered storage,
    `upload TOPIC-PARTITION BASE_OFFSET on BROKER` and `delete TOPIC-PARTITION SEGMENT_ID` one of
    its segments. A group with spaces at its ends is quoted with its verb.

    \b
    Example:
      moldau explain cleanup orders-app
      moldau explain offset orders-app orders-0 --cluster east
      moldau explain tier orders-0
    """
    from moldau.reading.explain_tier import explain_tier_subject

    text = " ".join(subject)
    of_tier = explain_tier_subject(settings.warehouse, text, cluster, at_ms)
    if of_tier:
        _write_tier(of_tier, output_format)
        return
    from moldau.reading.explain import explain_subject
    from moldau.reading.explain_words import in_words

    found = explain_subject(settings.warehouse, text, cluster)
    if output_format == "table":
        sys.stdout.writelines(line + "\n" for line in in_words(found))
    else:
        write_rows(_COLUMNS, _rows(found), output_format)


def _write_tier(found: TierExplanation, output_format: str) -> None:
    from moldau.reading.explain_tier import COLUMNS, tier_rows
    from moldau.reading.explain_tier_words import tier_in_words

    if output_format == "table":
        sys.stdout.writelines(line + "\n" for line in tier_in_words(found))
    else:
        write_rows(COLUMNS, tier_rows(found), output_format)


def _rows(explanation: Explanation) -> list[tuple[Any, ...]]:
    from moldau.reading.explain import TABLE_OF, reason_texts
    from moldau.reading.explain_words import blocked_by, next_change_at_ms

    rows = []
    for decided in explanation.decided:
        row = decided.decision or {}
        table = TABLE_OF[decided.kind].split(".")[1]
        rows.append(
            (
                explanation.group["cluster_id"],
                decided.subject,
                row.get("decision"),
                row.get("reason_code"),
                reason_texts().get((table, row.get("reason_code", ""))),
                blocked_by(explanation, decided),
                next_change_at_ms(decided),
                row.get("decided_at_ms"),
                row.get("ruleset"),
                row.get("run_id"),
            )
        )
    return rows
