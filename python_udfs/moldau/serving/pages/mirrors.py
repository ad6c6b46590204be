"""Mirrors: could groups go on in the other cluster, and where."""

from __future__ import annotations

from moldau.serving.page import Asked, Field, Page, all_of, equal
from moldau.serving.question import Question

_ROWS = 100


def mirrors(asked: Asked) -> Page:
    of_flow = equal(asked, {"flow": "flow"})
    of_group = equal(asked, {"group": "group_id"})
    questions = _questions(all_of(of_flow), all_of(of_flow + of_group), bool(of_group))
    return Page(
        "Mirrors",
        "Whether groups could go on in the other cluster, and which records they would read again.",
        tuple(asked.reader.ask(questions, asked.at_ms)),
        fields=(Field("flow", "Flow"), Field("group", "Group")),
    )


def _questions(of_flow: str, of_group: str, is_one: bool) -> list[Question]:
    by_flow = Question(
        "by_flow",
        "By flow",
        f"""select
    flow, source_cluster_id, target_cluster_id, count(*) as groups,
    count(*) filter (where is_ready) as ready, sum(partitions)::bigint as partitions,
    sum(translated)::bigint as translated, sum(reread_max)::bigint as reread_max,
    max(decided_at) as decided_at
from marts.failover_readiness where {of_flow}
group by flow, source_cluster_id, target_cluster_id order by flow""",
        "No flow was translated yet: `moldau translate` does.",
    )
    by_group = Question(
        "by_group",
        "By group",
        f"""select
    flow, group_id, is_ready, partitions, translated, blocked_by_reason, waiting_for_replays,
    reread_max, surplus_offsets, to_write, target_ahead, target_group_state, advice, decided_at,
    count(*) over () as in_all
from marts.failover_readiness where {of_group}
order by is_ready, flow, group_id limit {_ROWS}""",
        "No group fits.",
    )
    offsets = Question(
        "offsets",
        "Translated offsets",
        f"""select
    flow, group_id, topic_name, partition_index, upstream_offset, translated_offset, lower_bound,
    upper_bound, reread_max, is_exact, decision, reason_code, reason_text, commit_at,
    count(*) over () as in_all
from marts.offset_translations where {of_group}
order by flow, group_id, topic_name, partition_index limit {_ROWS}""",
        "Nothing was translated.",
        about="The group stands between the bounds of the target; it reads at most as many "
        "records again as lie between them.",
        hidden=("reason_text",),
    )
    return [by_flow, offsets, by_group] if is_one else [by_flow, by_group, offsets]
