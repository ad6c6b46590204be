"""A part of the demo: a second cluster, and where groups would resume there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.cli.story import explain, heading, load, show, tell
from moldau.instants import format_instant

if TYPE_CHECKING:
    from moldau.sessions.session import Session

FLOW, AS_KAFKA = "a-to-b", "a-to-b-as-kafka"
FLOWS = (
    "flows:\n"
    f'  {FLOW}: {{source: A, target: B, topics: "orders.*"}}\n'
    f"  {AS_KAFKA}:    # the same mirror by the rules of MirrorMaker 2 itself\n"
    '    {source: A, target: B, topics: "orders.*", ruleset: sparse_reads_checkpoints}\n'
)
_DOWN_MS, _RESTARTED_MS = 1_795_248_279_083, 1_795_248_329_613  # when the captures were taken

# the last of MirrorMaker's checkpoints for each group and partition, beside what moldau says
_BESIDE = f"""
    select
        moldau.group_id,
        concat(moldau.topic_name, '-', moldau.partition_index) as partition,
        moldau.upstream_offset as committed,
        mm2.upstream_offset as mm2_of,
        mm2.downstream_offset as mm2_answers,
        kafka.translated_offset as by_its_rules,
        moldau.translated_offset as moldau_answers,
        moldau.upper_bound as at_most,
        moldau.reason_code as reason
    from decisions.offset_translations as moldau
    inner join decisions.offset_translations as kafka
        using (group_id, topic_name, target_topic_name, partition_index)
    left join (
        select
            group_id,
            topic_name as target_topic_name,
            partition_index,
            arg_max(upstream_offset, log_offset) as upstream_offset,
            arg_max(downstream_offset, log_offset) as downstream_offset
        from decoded.checkpoints
        group by all
    ) as mm2
        using (group_id, target_topic_name, partition_index)
    where moldau.flow = '{FLOW}' and kafka.flow = '{AS_KAFKA}'
    order by moldau.topic_name, moldau.partition_index, moldau.upstream_offset, moldau.group_id
"""


def tell_of_mirrors(session: Session) -> None:
    """MirrorMaker's answers beside moldau's, while it is down and after its restart."""
    tell(
        "\n--- And on another cluster? ---\n"
        "Cluster `A` is mirrored to `B` by a real MirrorMaker 2. It is stopped, groups go on, it\n"
        "starts again. Where would each group have to read on in `B`?"
    )
    _load(session, "")
    _translate(session, _DOWN_MS)
    heading("While MirrorMaker is down:", "decisions.offset_translations, decoded.checkpoints")
    show(session.warehouse, _BESIDE)
    _load(session, ".later")
    _translate(session, _RESTARTED_MS)
    heading("After its restart:", "decisions.offset_translations, decoded.checkpoints")
    show(session.warehouse, _BESIDE)
    tell(
        "\nMirrorMaker keeps 64 syncs of a partition: a group far behind reads nearly all of it\n"
        "again. moldau keeps every sync, and says which one proves its answer:"
    )
    explain(session.warehouse, f"translation g-mid orders-0 of {FLOW}")


def _load(session: Session, stage: str) -> None:
    for cluster, topics in (
        ("A", ("A.__consumer_offsets", "A.mm2-offset-syncs.B.internal")),
        ("B", ("B.__consumer_offsets", "B.A.checkpoints.internal")),
    ):
        load(session, cluster, "records", *(f"mirrored/{topic}{stage}.jsonl" for topic in topics))


def _translate(session: Session, at_ms: int) -> None:
    from moldau.runs.decide import decide

    tell(f"$ moldau translate --at {format_instant(at_ms)}")
    decide(session, "translate", [], at_ms, is_dry_run=False)
