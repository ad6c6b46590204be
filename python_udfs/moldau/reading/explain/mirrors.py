"""Why a group's offset was translated as it was: the stored decision and its proof, gathered.

Nothing is decided here: only stored values are shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from moldau.errors import MoldauError
from moldau.reading.explain.groups import Row
from moldau.reading.explain.phrases import reason_text
from moldau.reading.explain.subjects import nothing_decided
from moldau.reading.tables.query import Tables
from moldau.settings.rule_sets import switches_of

TRANSLATIONS, OFFERS, SYNCS, PARTITIONS, SURPLUSES = (
    "decisions.offset_translations",
    "decisions.target_offset_writes",
    "state.offset_syncs",
    "state.mirrored_partitions",
    "marts.mirror_surpluses",
)
_READ = (
    TRANSLATIONS,
    OFFERS,
    SYNCS,
    PARTITIONS,
    SURPLUSES,
    "state.flows",
    "state.mirror_task_starts",
    "state.partition_states",
    "state.source_topics",
    "history.decision_changes",
)
_ASKED = re.compile(r"translation .+-\d+(?: of .+)?", re.ASCII | re.DOTALL)
_SHORT = "'translation ' || group_id || ' ' || topic_name || '-' || partition_index"
# the subject of marts.decisions: see macros/translation_subject.sql
_SUBJECT = f"{_SHORT} || ' of ' || flow"


@dataclass(frozen=True)
class TranslationExplanation:
    """A decision about one offset of a group, and the stored rows that it rests on."""

    decision: Row
    flow: Row
    """Of state.flows, as it is in force; without it, the flow is configured no longer."""
    sync: Row | None
    next_sync: Row | None
    """The one right after `sync` in the partition's history."""
    first_sync: Row | None
    """That may be an answer, of the partition's last incarnation as the rule set sees it."""
    replayed_sync: Row | None
    """The first one of a replay that the rule set waits for."""
    partition: Row | None
    last_start: Row | None
    """Of MirrorMaker's checkpoint task."""
    target_end: Row | None
    target_topic: Row | None
    """Of state.source_topics, with the last id that was seen."""
    offer: Row | None
    """What the group would be given on the target partition."""
    surplus: Row | None
    """Of marts.mirror_surpluses."""
    last_change: Row | None

    @property
    def subject(self) -> str:
        return _subject(self.decision)

    @property
    def reason_text(self) -> str:
        return reason_text(TRANSLATIONS, self.decision["reason_code"])

    @property
    def refusal(self) -> Row | None:
        """The offer, if it is refused: for another reason than the group's place in the target."""
        offer = self.offer
        is_refused = offer is not None and not offer["reason_code"].startswith("TARGET_")
        return offer if is_refused else None


def switches(decision: Row) -> dict[str, str]:
    """Of the rule set that decided, as seeds/rule_sets.csv has them."""
    return switches_of("mirrors")[decision["ruleset"]]


def as_counted(decision: Row, column: str) -> str:
    """The column that counts incarnations, or what comes of them, as the rule set does."""
    resets = switches(decision)["resets_at_rewind"] == "true"
    return f"parity_{column}" if resets else column


def _subject(decision: Row) -> str:
    place = f"{decision['topic_name']}-{decision['partition_index']}"
    return f"translation {decision['group_id']} {place} of {decision['flow']}"


def explain_translation(
    warehouse: Path, text: str, cluster: str | None
) -> TranslationExplanation | None:
    """What is stored about `translation GROUP TOPIC-PARTITION`, which may end in ` of FLOW`.

    None: the text is no such thing. MoldauError if nothing is decided about it, or by several
    flows, of which none was chosen by its name or as the only one of `cluster`.
    """
    if not _ASKED.fullmatch(text):
        return None
    tables = Tables(warehouse, _READ)
    found = tables.rows(TRANSLATIONS, f"where {_SUBJECT} = ?", [text])
    if not found:
        found = tables.rows(TRANSLATIONS, f"where {_SHORT} = ? order by flow", [text])
    if not found:
        raise _nothing(tables, text)
    flows = flows_of(tables)
    return _gathered(tables, one_flow(found, flows, text, cluster), flows)


def flows_of(tables: Tables) -> dict[str, Row]:
    """Of state.flows, each as it is in force."""
    rows = tables.rows("state.flows", "order by valid_from_ms, run_id", [])
    return {row["flow"]: row for row in rows}


def one_flow(found: list[Row], flows: dict[str, Row], text: str, cluster: str | None) -> Row:
    """The decision of the flow that is meant; MoldauError if that is open."""

    def ends(row: Row) -> tuple[str, str | None]:
        target = flows.get(row["flow"], {}).get("target_cluster_id")
        return row["cluster_id"], target

    chosen = [row for row in found if cluster is None or cluster in ends(row)]
    listed = ", ".join(
        f"{row['flow']} ({ends(row)[0]} to {ends(row)[1]})" for row in chosen or found
    )
    if not chosen:
        raise MoldauError(f"{text[:200]!r} is of no flow of cluster {cluster!r}, but of {listed}")
    if len(chosen) > 1:
        raise MoldauError(
            f"{text[:200]!r} is of several flows: choose one with ` of FLOW` at its end ({listed})"
        )
    return chosen[0]


def _nothing(tables: Tables, text: str) -> MoldauError:
    close = tables.rows(
        TRANSLATIONS, "where group_id = ? order by flow, topic_name, partition_index limit 3",
        [text.split(" ")[1]],
    )  # fmt: skip
    return nothing_decided(
        text,
        map(_subject, close),
        "load the records of the flow's source and of its offset-syncs topic, then `moldau "
        "translate` decides",
    )


def _gathered(tables: Tables, decision: Row, flows: dict[str, Row]) -> TranslationExplanation:
    place = "where flow = ? and topic_name = ? and partition_index = ?"
    key = [decision["flow"], decision["topic_name"], decision["partition_index"]]

    first = tables.first
    sync = next_sync = None
    proof = [decision["syncs_incarnation"], decision["sync_log_offset"]]
    if decision["sync_log_offset"] is not None:
        of_topic = f"{place} and syncs_incarnation = ?"
        sync = first(SYNCS, f"{of_topic} and sync_log_offset = ?", key + proof)
        next_sync = first(SYNCS, f"{of_topic} and previous_sync_log_offset = ?", key + proof)
    flow = flows.get(decision["flow"], {})
    incarnation = as_counted(decision, "incarnation")
    of_log = f"{place} and {incarnation} = ?"
    last_log = [*key, decision[incarnation]]
    usable = "and is_admitted" if switches(decision)["waits_for_replays"] == "true" else ""
    by_offset = "order by upstream_offset, sync_log_offset limit 1"
    return TranslationExplanation(
        decision=decision,
        flow=flow,
        sync=sync,
        next_sync=next_sync,
        first_sync=first(SYNCS, f"{of_log} {usable} {by_offset}", last_log),
        replayed_sync=first(SYNCS, f"{of_log} and not is_admitted {by_offset}", last_log)
        if usable
        else None,
        partition=first(PARTITIONS, place, key),
        last_start=first(
            "state.mirror_task_starts",
            "where flow = ? order by started_at_ms desc limit 1",
            [decision["flow"]],
        ),
        target_end=first(
            "state.partition_states",
            "where cluster_id = ? and topic_name = ? and partition_index = ? and is_leader "
            "order by coalesce(leader_epoch, -1) desc, taken_at_ms desc, "
            "log_end_offset desc nulls last limit 1",
            [
                flow.get("target_cluster_id"),
                decision["target_topic_name"],
                decision["partition_index"],
            ],
        ),
        target_topic=first(
            "state.source_topics",
            "where cluster_id = ? and topic_name = ? order by first_seen_at_ms desc limit 1",
            [flow.get("target_cluster_id"), decision["target_topic_name"]],
        ),
        offer=first(
            OFFERS,
            "where flow = ? and group_id = ? and target_topic_name = ? and partition_index = ?",
            [
                decision["flow"],
                decision["group_id"],
                decision["target_topic_name"],
                decision["partition_index"],
            ],
        ),
        surplus=first(SURPLUSES, place, key),
        last_change=first(
            "history.decision_changes",
            "where domain = 'mirrors' and cluster_id = ? and subject = ? "
            "order by run_id desc limit 1",
            [decision["cluster_id"], _subject(decision)],
        ),
    )
