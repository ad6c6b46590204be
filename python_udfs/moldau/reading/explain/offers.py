"""What a group would be given on the other cluster, and why: the stored offer, in words and a row.

Nothing is decided here: only stored values are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from moldau.escapes import visible
from moldau.reading.explain.groups import Row
from moldau.reading.explain.mirrors import OFFERS, TRANSLATIONS, flows_of, one_flow
from moldau.reading.explain.phrases import decided_in, reason_text
from moldau.reading.explain.subjects import nothing_decided
from moldau.reading.tables.query import Tables

_ASKED = re.compile(r"target offset .+-\d+(?: of .+)?", re.ASCII | re.DOTALL)
_SHORT = "'target offset ' || group_id || ' ' || target_topic_name || '-' || partition_index"
# the subject of marts.decisions: see macros/translation_subject.sql
_SUBJECT = f"{_SHORT} || ' of ' || flow"


@dataclass(frozen=True)
class OfferExplanation:
    """An offer to a group of the target, and where the translation behind it is explained."""

    decision: Row
    flow: Row
    """Of state.flows, as it is in force; without it, the flow is configured no longer."""
    topic_name: str | None
    """In the source; None = no commit of the group there was translated."""

    @property
    def subject(self) -> str:
        return _subject(self.decision)

    @property
    def translation_subject(self) -> str | None:
        row = self.decision
        if self.topic_name is None:
            return None
        place = f"{self.topic_name}-{row['partition_index']}"
        return f"translation {row['group_id']} {place} of {row['flow']}"


def explain_offer(warehouse: Path, text: str, cluster: str | None) -> OfferExplanation | None:
    """What is stored about `target offset GROUP TOPIC-PARTITION`, which may end in ` of FLOW`.

    The topic is the target's. None: the text is no such thing. MoldauError if nothing is offered
    there, or by several flows, of which none was chosen.
    """
    if not _ASKED.fullmatch(text):
        return None
    tables = Tables(warehouse, (OFFERS, TRANSLATIONS, "state.flows"))
    found = tables.rows(OFFERS, f"where {_SUBJECT} = ?", [text])
    if not found:
        found = tables.rows(OFFERS, f"where {_SHORT} = ? order by flow", [text])
    if not found:
        close = tables.rows(
            OFFERS, "where group_id = ? order by flow, target_topic_name, partition_index limit 3",
            [text.split(" ")[2]],
        )  # fmt: skip
        raise nothing_decided(
            text, map(_subject, close), "`moldau translate` decides, of groups with a checkpoint"
        )
    flows = flows_of(tables)
    decision = one_flow(found, flows, text, cluster)
    translated = tables.first(
        TRANSLATIONS,
        "where flow = ? and group_id = ? and target_topic_name = ? and partition_index = ?",
        [decision[key] for key in ("flow", "group_id", "target_topic_name", "partition_index")],
    )
    topic_name = translated["topic_name"] if translated else None
    return OfferExplanation(decision, flows.get(decision["flow"], {}), topic_name)


def offer_in_words(found: OfferExplanation) -> Iterator[str]:
    """What is offered, where the group is in the target, and what would change the answer."""
    row = found.decision
    target = found.flow.get("target_cluster_id", "an unknown cluster")
    there = visible(f"{row['target_topic_name']}-{row['partition_index']}")
    yield visible(f"{found.subject}, {row['cluster_id']} to {target}")
    text = reason_text(OFFERS, row["reason_code"])
    yield f"  {row['decision']} ({row['reason_code']}): {text}"
    yield f"  checkpoint: {row['to_offset']} of {there}"
    stands = "no offset" if row["from_offset"] is None else f"offset {row['from_offset']}"
    yield f"  seen: the group has {stands} on {there} in {target}"
    yield f"  next: {next_offer(found)}"
    if asked := found.translation_subject:
        yield f"  the checkpoint: `moldau explain {visible(asked)}`"
    yield f"  {decided_in(row)}"


def offer_row(found: OfferExplanation) -> Row:
    columns = (
        "cluster_id", "flow", "group_id", "target_topic_name", "partition_index", "decision",
        "reason_code", "from_offset", "to_offset", "decided_at_ms", "ruleset", "run_id",
    )  # fmt: skip
    row = found.decision
    return {
        "subject": found.subject,
        **{column: row[column] for column in columns},
        "reason_text": reason_text(OFFERS, row["reason_code"]),
        "next_change": next_offer(found),
        "translation_subject": found.translation_subject,
    }


def next_offer(found: OfferExplanation) -> str:
    """What would have to happen for another answer."""
    row = found.decision
    match row["reason_code"]:
        case "TARGET_ABSENT" | "TARGET_BEHIND":
            return (
                f"a commit of the group at {row['to_offset']} or later in the target, members of "
                "it there, or another checkpoint; time alone changes nothing"
            )
        case "TARGET_EQUAL" | "TARGET_AHEAD":
            return f"a checkpoint above {row['from_offset']}"
        case "TARGET_GROUP_ACTIVE":
            return "the group has no members in the target"
        case "WOULD_EXCEED_TARGET_END":
            return f"partition_states of the target in which it reaches {row['to_offset']}"
    return "another checkpoint of the group, or another commit in the source"


def _subject(decision: Row) -> str:
    place = f"{decision['target_topic_name']}-{decision['partition_index']}"
    return f"target offset {decision['group_id']} {place} of {decision['flow']}"
