"""Groups, their offsets and topology descriptions: what expires, and what is released when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.declared.domain import (
    Domain,
    Explained,
    Kind,
    Subjects,
    Told,
    Topics,
    WhatIf,
    files_of,
)

if TYPE_CHECKING:
    from moldau.loading.shape import Shape


GROUP_TYPES = ("classic", "consumer", "share", "streams")
# of all types; UNKNOWN is what Kafka's clients say of a state that is newer than they are
GROUP_STATES = (
    "UNKNOWN", "PREPARING_REBALANCE", "COMPLETING_REBALANCE", "STABLE", "DEAD", "EMPTY",
    "ASSIGNING", "RECONCILING", "NOT_READY",
)  # fmt: skip
JITTER = (0.8, 1.2)  # of a back-off; of a request without one it follows from its request_id


def _groups_to_delete(name: str, value: Any) -> list[str | None]:
    """Kafka deletes the group of the empty name like any other, and no group under null."""
    from moldau.loading.shapes import TEXTS

    group_ids: list[str | None] = TEXTS(name, value)
    if None in group_ids and "" in group_ids:
        raise ValueError(f'{name} has null and "": their answers have one key, give two requests')
    return group_ids


def _shapes() -> Iterator[Shape]:
    from moldau.loading.shape import Shape
    from moldau.loading.shapes import (
        OPTIONAL,
        any_text,
        description,
        error,
        flag,
        int32,
        int32s,
        int64,
        name,
        one_of,
        share,
        texts,
    )  # fmt: skip

    request, group, member = map(any_text, ("request_id", "group_id", "member_id"))
    received, jitter = int64("received_at_ms"), share("jitter", *JITTER)
    producer = int64("producer_id", minimum=-1)
    transaction = (group, name("topic"), int32("partition"), producer)
    yield Shape("open_transactions", transaction, is_snapshot=True)
    listing = (
        group,
        one_of("group_type", GROUP_TYPES, **OPTIONAL),
        one_of("group_state", GROUP_STATES),
        any_text("protocol_type", **OPTIONAL),
        int32("coordinator_id", **OPTIONAL),
        flag("is_simple"),
        int64("taken_at_ms"),
    )
    yield Shape("group_listings", listing, is_snapshot=True)
    heartbeat = (
        request,
        group,
        member,
        int32("request_version"),
        int32("member_epoch", minimum=-(2**31)),
        error("response_error"),
        int32s("status_codes", is_nullable=True),
        received,
        jitter,
    )
    yield Shape("heartbeats", heartbeat)
    push = (
        request,
        group,
        member,
        int32("topology_epoch", minimum=-(2**31)),
        description("topology_description"),
        received,
        jitter,
        error("coordinator_error", **OPTIONAL),
        error("authorization_error", **OPTIONAL),
        error("write_error", **OPTIONAL),
    )
    yield Shape("topology_pushes", push)
    deletion = (
        request,
        int32("request_version"),
        texts("group_ids", check=_groups_to_delete),
        received,
        error("read_error", **OPTIONAL),
    )
    yield Shape("group_deletions", deletion)
    yield Shape("classic_joins", (request, group, member, received, jitter))
    yield Shape("coordinator_unloads", (int32("offsets_partition_index"), int64("at_ms")))


def _explain(warehouse: Path, text: str, cluster: str | None, _at_ms: int | None) -> Explained:
    from moldau.errors import MoldauError
    from moldau.reading.explain.found_rows import rows_of
    from moldau.reading.explain.groups import explain_subject
    from moldau.reading.explain.groups_words import in_words
    from moldau.reading.explain.listed import explain_listed
    from moldau.reading.explain.requests import explain_request, request_in_words, request_rows
    from moldau.reading.explain.subjects import NothingKnown
    from moldau.reading.health.freshness import hidden_words

    if request := explain_request(warehouse, text, cluster):
        return Explained(list(request_in_words(request)), request_rows(request))
    try:
        found = explain_subject(warehouse, text, cluster)
    except NothingKnown as error:
        if listed := explain_listed(warehouse, text, cluster):
            return listed
        raise MoldauError("; ".join([str(error), *hidden_words(warehouse)])) from None
    return Explained(list(in_words(found)), rows_of(found))


_CLEANUPS, _SWEEPS, _OFFSETS = (
    f"intermediate.int_groups__{name}_reasoned"
    for name in ("cleanup_eligibility", "group_sweeps", "offset_expirations")
)
_KEY = ("cluster_id", "group_id")
_WHAT_IF = WhatIf(
    summary="Decide which offsets and groups go as if clusters had other settings.",
    example="offsets.retention.minutes=1440",
    reads=(_CLEANUPS, _SWEEPS, _OFFSETS),
    told={
        "subject": Told(
            ("cluster_id", "subject"),
            ("decision", "reason_code"),
            "select cluster_id, 'sweep ' || group_id as subject, decision, reason_code "
            f"from {_SWEEPS} union all "
            "select cluster_id, 'offset ' || group_id || ' ' || topic_name || '-' || "
            f"partition_index, decision, reason_code from {_OFFSETS} union all "
            f"select cluster_id, 'cleanup ' || group_id, decision, reason_code from {_CLEANUPS}",
        ),
        "group": Told(
            _KEY,
            ("offsets_expire", "offsets_kept", "sweep", "cleanup"),
            "select cluster_id, group_id, coalesce(offsets_expire, 0) as offsets_expire, "
            "coalesce(offsets_kept, 0) as offsets_kept, sweeps.decision as sweep, "
            f"cleanups.decision as cleanup from {_SWEEPS} as sweeps "
            f"left join {_CLEANUPS} as cleanups using (cluster_id, group_id) "
            "left join (select cluster_id, group_id, "
            "count(*) filter (where decision = 'expire') as offsets_expire, "
            "count(*) filter (where decision <> 'expire') as offsets_kept "
            f"from {_OFFSETS} group by all) using (cluster_id, group_id)",
        ),
    },
)

DOMAIN = Domain(
    name="groups",
    kinds=(
        Kind(
            name="requests",
            summary="Answer heartbeats, pushed descriptions, deletions and classic joins.",
            decides="what the coordinator answers to each request that was loaded and is not "
            "answered yet, in the order of (received_at_ms, request_id)",
            applies="calls the plugin for them, moves the epochs and back-offs, and removes or "
            "converts groups",
            decisions="topology_push_results",
            place=10,
            counts=(
                "select concat(operation, 's_', outcome) as name, count(*) as n "
                "from history.plugin_calls where run_id = {run} group by name",
                "select if(topic_name is null, 'groups_removed', 'offsets_removed'), count(*) "
                "from history.tombstones where run_id = {run} group by 1",
            ),
            decides_once=True,
            always_applies=True,
            follows={"state.topology_backoffs": "state.groups"},
        ),
        Kind(
            name="cycle",
            summary="Decide which topology descriptions are released, and release them.",
            decides="which streams groups the clean-up cycle releases the topology description of",
            applies="asks the plugin to delete each of them and clears the stored epoch if it is "
            "still the same",
            decisions="cleanup_eligibility",
            place=20,
            acts_on=("eligible",),
            counts=(
                "select concat('deletes_', outcome) as name, count(*) as n "
                "from history.plugin_calls where run_id = {run} group by outcome",
                "select outcome, count(*) from history.epoch_clears "
                "where run_id = {run} and step <> 'barrier' group by outcome",
            ),
            is_watched=True,
        ),
        Kind(
            name="sweep",
            summary="Decide which offsets and groups go, and remove them.",
            decides="which offsets the sweep expires and which groups it removes",
            applies="removes these offsets, and these groups unless a description of them is "
            "still stored",
            decisions="group_sweeps",
            place=30,
            acts_on=("offsets_expire", "tombstone"),
            counts=(
                "select if(topic_name is null, 'groups_removed', 'offsets_removed') as name, "
                "count(*) as n from history.tombstones where run_id = {run} group by name",
            ),
            is_watched=True,
        ),
    ),
    verbs={
        "timeline": "Tell the past of a group, event by event.",
        "topology": "Print the topology description of a streams group.",
    },
    topics=(
        Topics(
            "consumer_offsets",
            "decoded.group_records",
            "records",
            known_in_part="int_groups__groups_known_in_part",
        ),
        Topics("share_group_state", "decoded.share_group_records"),
    ),
    files=files_of(
        _shapes,
        "open_transactions",
        "group_listings",
        "heartbeats",
        "topology_pushes",
        "group_deletions",
        "classic_joins",
        "coordinator_unloads",
    ),
    reasoned="int_groups__decisions_reasoned",
    what_if=_WHAT_IF,
    subjects=Subjects(
        forms=(
            "cleanup GROUP",
            "sweep GROUP",
            "offset GROUP TOPIC-PARTITION",
            "heartbeat REQUEST",
            "push REQUEST",
            "deletion REQUEST GROUP",
            "join REQUEST",
        ),
        explain=_explain,
        take_any_text=True,
    ),
)
