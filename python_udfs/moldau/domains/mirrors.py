"""MirrorMaker 2: which offset a group would have on the other cluster, through restarts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.declared.domain import (
    Domain,
    Explained,
    Kind,
    Question,
    Recorded,
    Subjects,
    Told,
    Topics,
    WhatIf,
)

if TYPE_CHECKING:
    from moldau.loading.shape import Shape
    from moldau.sessions.run import Run
    from moldau.settings import Settings
    from moldau.settings.fields import Section


def _flow() -> type[Section]:
    from moldau.settings.flow import FlowSettings

    return FlowSettings


def _mirror_task_starts() -> Shape:
    from moldau.loading.shape import Shape
    from moldau.loading.shapes import any_text, flag, int64

    members = (
        any_text("flow"),
        int64("started_at_ms"),
        int64("syncs_end_offset"),
        flag("checkpoints_readable"),
    )
    return Shape("mirror_task_starts", members)


def _flows(settings: Settings, run: Run) -> list[dict[str, Any]]:
    """Rows of run.flows; a comparison puts other rule sets in place of theirs."""
    rows = []
    for name, flow in settings.sections["flows"].items():
        row = {"flow": name, **flow.row()}
        compared = [run.rulesets.get(name, {}).get("mirrors") for name in flow.named_clusters()]
        row["ruleset"] = next(filter(None, compared), row["ruleset"])
        rows.append(
            row | {"valid_from_ms": run.started_at_ms, "valid_to_ms": None, "run_id": run.run_id}
        )
    return rows


def _flows_in_scope(settings: Settings, clusters: Sequence[str]) -> str:
    """Decisions of the flows that begin or end at one of the clusters."""
    from moldau.literals import literal

    flows = [
        name
        for name, flow in settings.sections["flows"].items()
        if {flow.source, flow.target} & set(clusters)
    ]
    return f"flow in ({', '.join(map(literal, flows)) or 'null'})"


def _explain(
    warehouse: Path, text: str, cluster: str | None, _at_ms: int | None
) -> Explained | None:
    from moldau.reading.explain.mirrors import explain_translation
    from moldau.reading.explain.mirrors_words import translation_in_words, translation_row
    from moldau.reading.explain.offers import explain_offer, offer_in_words, offer_row

    if found := explain_translation(warehouse, text, cluster):
        return Explained(list(translation_in_words(found)), [translation_row(found)])
    if offer := explain_offer(warehouse, text, cluster):
        return Explained(list(offer_in_words(offer)), [offer_row(offer)])
    return None


def _probe(
    settings: Settings, probes: Sequence[str], clusters: Sequence[str], at_ms: int | None
) -> Sequence[dict[str, Any]]:
    from moldau.reading.explain.probe import translate_probes

    return translate_probes(settings, probes, clusters, at_ms)


# what a flow that is new, or another one by its name, has of what was loaded before it
_FOLDED_FOR_NEW_FLOWS = (
    "fold_offset_syncs",
    "fold_mirrored_partitions",
    "fold_source_topics",
    "fold_checkpoints",
    "record_flows",
)

_TRANSLATIONS = "intermediate.int_mirrors__offset_translations_reasoned"
_PLACE = ("flow", "group_id", "topic_name", "partition_index")
_ANSWER = ("translated_offset", "decision", "reason_code")
_WHAT_IF = WhatIf(
    summary="Translate offsets as if flows had other settings.",
    example="exactly.once.source.support=enabled",
    reads=(_TRANSLATIONS,),
    told={
        "partition": Told(
            _PLACE, _ANSWER, f"select {', '.join((*_PLACE, *_ANSWER))} from {_TRANSLATIONS}"
        ),
        "group": Told(
            ("flow", "group_id"),
            ("partitions", "translated", "emitted", "reread_max"),
            "select flow, group_id, count(*) as partitions, "
            "count(*) filter (where translated_offset >= 0) as translated, "
            "count(*) filter (where decision = 'emit') as emitted, "
            f"max(reread_max) as reread_max from {_TRANSLATIONS} group by all",
        ),
    },
    section="flows",
    folded=(
        "source_cluster_id",
        "target_cluster_id",
        "syncs_cluster_id",
        "syncs_topic_name",
        "checkpoints_topic_name",
    ),
)

DOMAIN = Domain(
    name="mirrors",
    kinds=(
        Kind(
            name="translate",
            summary="Translate the offsets of groups to the other cluster of each flow.",
            decides="for each flow which offset every group of its source would have on its "
            "target, and which of these are new checkpoints",
            applies="writes the new checkpoints into state.checkpoints, whoever is in charge of "
            "the clusters: no record of Kafka's is touched",
            decisions="offset_translations and decisions.target_offset_writes",
            place=50,
            acts_on=("emit",),
            counts=(
                "select 'checkpoints_emitted' as name, count(*) as n "
                "from history.checkpoints where run_id = {run}",
            ),
            applies_everywhere=True,
            settles=True,
            in_scope=_flows_in_scope,
            questions=(
                Question(
                    option="--probe",
                    metavar="TOPIC-PARTITION:OFFSET",
                    help="Decide nothing: print where this offset of a source lies on the target "
                    "of each flow, with the sync that proves it. May be repeated.",
                    answer=_probe,
                ),
            ),
        ),
    ),
    verbs={"reset-plan": "Write the offsets that groups would be given, for Kafka's own tool."},
    topics=(
        Topics("offset_syncs", "decoded.offset_syncs", "offset_syncs", is_read_again=True),
        Topics("checkpoints", "decoded.checkpoints", "checkpoints", is_read_again=True),
        Topics("heartbeats", "decoded.heartbeats"),
    ),
    files={"mirror_task_starts": _mirror_task_starts},
    sections={"flows": _flow},
    recorded=(Recorded("flows", _flows, _FOLDED_FOR_NEW_FLOWS),),
    has_cluster_rules=False,
    reasoned="int_mirrors__decisions_reasoned",
    what_if=_WHAT_IF,
    subjects=Subjects(
        forms=(
            "translation GROUP TOPIC-PARTITION",
            "translation GROUP TOPIC-PARTITION of FLOW",
            "target offset GROUP TARGET_TOPIC-PARTITION of FLOW",
        ),
        explain=_explain,
    ),
)
