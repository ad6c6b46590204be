"""Why a group's offset was translated as it was, in words and as a row."""

from __future__ import annotations

import json
from collections.abc import Iterator

from moldau.escapes import visible
from moldau.instants import format_instant
from moldau.reading.explain.groups import Row
from moldau.reading.explain.mirrors import OFFERS, TranslationExplanation, as_counted, switches
from moldau.reading.explain.phrases import decided_in, reason_text


def translation_in_words(found: TranslationExplanation) -> Iterator[str]:
    """What was decided and by which sync, what guarded, and what would change the answer."""
    row = found.decision
    yield visible(f"{found.subject}, {_source(found)} to {_target(found)}")
    yield f"  {row['decision']} ({row['reason_code']}): {found.reason_text}"
    yield f"  commit: {_commit(found)}"
    yield f"  proof: {_proof(found)}"
    yield from (f"  {line}" for line in _translation(found))
    yield f"  guard: {_guard(row)}"
    if found.refusal:
        yield f"  offer: {_refusal(found, found.refusal)}"
    if found.surplus:
        yield f"  surplus: {surplus_in_words(found.surplus, _stands_still(found))}"
    yield f"  next: {next_change(found)}"
    yield f"  {decided_in(row)}{_before(found)}"


def translation_row(found: TranslationExplanation) -> Row:
    row, sync, offer = found.decision, found.sync or {}, found.offer or {}
    return {
        "cluster_id": row["cluster_id"], "subject": found.subject,
        **_of(row, "flow", "decision", "reason_code"), "reason_text": found.reason_text,
        **_of(row, "upstream_offset", "translated_offset", "lower_bound", "upper_bound"),
        **_of(row, "reread_max", "target_topic_name", "sync_log_offset"),
        "sync_upstream_offset": sync.get("upstream_offset"),
        "sync_downstream_offset": sync.get("downstream_offset"),
        **_of(row, "observed_upstream_offset", "observed_downstream_offset"),
        **_of(row, "observed_emitted_by"), "next_change": next_change(found),
        **_of(row, "decided_at_ms", "ruleset", "run_id"),
        "offer_reason_code": offer.get("reason_code"), "offer_offset": offer.get("to_offset"),
        "surplus_offsets": (found.surplus or {}).get("surplus_offsets"),
    }  # fmt: skip


def _of(row: Row, *columns: str) -> Row:
    return {column: row[column] for column in columns}


def _source(found: TranslationExplanation) -> str:
    return str(found.decision["cluster_id"])


def _target(found: TranslationExplanation) -> str:
    return str(found.flow.get("target_cluster_id", "an unknown cluster"))


def _here(found: TranslationExplanation) -> str:
    return visible(f"{found.decision['topic_name']}-{found.decision['partition_index']}")


def _there(found: TranslationExplanation) -> str:
    return visible(f"{found.decision['target_topic_name']}-{found.decision['partition_index']}")


def _syncs_topic(found: TranslationExplanation) -> str:
    topic = found.flow.get("syncs_topic_name", "the offset-syncs topic")
    return f"{topic} of {found.flow.get('syncs_cluster_id', 'an unknown cluster')}"


def _commit(found: TranslationExplanation) -> str:
    row = found.decision
    if row["upstream_offset"] is None:
        return f"none on {_here(found)}"
    metadata = f", metadata '{visible(row['metadata'])}'" if row["metadata"] else ""
    at = format_instant(row["commit_at_ms"])
    return f"the group reads {row['upstream_offset']} of {_here(found)} next, as of {at}{metadata}"


def _proof(found: TranslationExplanation) -> str:
    row, sync = found.decision, found.sync
    if row["sync_log_offset"] is None:
        return f"none: no sync of {_syncs_topic(found)} was used"
    at = f"offset {row['sync_log_offset']} of {_syncs_topic(found)}"
    if sync is None:
        return f"the sync at {at}, which is not stored any more"
    gap = "; the record before it in the topic is missing" if sync["gap_before"] else ""
    return (
        f"record {sync['upstream_offset']} lies at {sync['downstream_offset']} of {_there(found)}, "
        f"says the sync at {at}, written {format_instant(sync['recorded_at_ms'])}{gap}"
    )


def _translation(found: TranslationExplanation) -> Iterator[str]:
    row, sync = found.decision, found.sync
    translated = row["translated_offset"]
    if translated is None:
        yield "translation: none"
        return
    if translated < 0:
        yield f"translation: {translated}, before the first sync"
        return
    if row["is_anchored"] and found.next_sync:
        how = (
            f", counted back from the next sync, {found.next_sync['upstream_offset']} -> "
            f"{found.next_sync['downstream_offset']}"
        )
    elif sync is None:
        how = ", where the first mirrored record lies"
    elif sync["upstream_offset"] == row["upstream_offset"]:
        how = ", the group's next record itself"
    else:
        how = ", the place behind the sync's record"
    yield f"translation: {translated} of {_there(found)}{how}"
    if row["upper_bound"] is None:
        bound = "nothing tells how far the group's true place is from it"
        yield f"bounds: {row['lower_bound']} at least; {bound} until the next sync"
    elif row["upper_bound"] == row["lower_bound"]:
        yield f"bounds: exact, {row['lower_bound']} to {row['upper_bound']}; nothing is read again"
    else:
        yield (
            f"bounds: {row['lower_bound']} to {row['upper_bound']}; at most {row['reread_max']} "
            "records are read again"
        )


def _guard(row: Row) -> str:
    if row["reason_code"] == "HISTORY_UNREADABLE":
        return "the last checkpoint of the group on the partition cannot be decoded"
    if row["observed_downstream_offset"] is None:
        return "the group had no checkpoint on the partition"
    whose = {"mm2": "MirrorMaker 2"}.get(row["observed_emitted_by"], row["observed_emitted_by"])
    return (
        f"compared with the checkpoint {row['observed_upstream_offset']} -> "
        f"{row['observed_downstream_offset']} that {whose} emitted"
    )


def _refusal(found: TranslationExplanation, offer: Row) -> str:
    code = offer["reason_code"]
    end = found.target_end and found.target_end["log_end_offset"]
    known = ""
    if code == "WOULD_EXCEED_TARGET_END" and end is not None:
        known = f" {_there(found)} ends at {end}."
    return (
        f"none: {offer['to_offset']} of {_there(found)} is refused ({code}): "
        f"{reason_text(OFFERS, code)}{known}"
    )


def _stands_still(found: TranslationExplanation) -> str | None:
    """Where the group would be if nothing waited for the target's surplus."""
    row, surplus = found.decision, found.surplus or {}
    first, waiting = surplus.get("waits_from_offset"), row["waiting_offset"]
    if waiting is None or first is None or row["upstream_offset"] < first:
        return None
    return f"the answer stands still at {row['translated_offset']} instead of {waiting}"


def surplus_in_words(surplus: Row, stands_still: str | None) -> str:
    """By how much the target runs ahead of the source, and which setting ends the waiting."""
    gained = (
        f"the target's offsets run ahead of the source's, by {surplus['surplus_offsets']} more in "
        f"{surplus['surplus_steps']} of {surplus['steps']} steps between syncs "
        f"({surplus['over_offsets']} offsets of the source)"
    )
    if surplus["is_exactly_once"]:
        return f"{gained}, as the transaction markers of exactly.once.source.support do"
    told = f"; so long as that goes on, {stands_still}" if stands_still else ""
    return (
        f"{gained}, by transaction markers, another producer or a replay{told}: if MirrorMaker "
        f"writes exactly once, set `{surplus['setting']}: enabled` for the flow in moldau.yml"
    )


def next_change(found: TranslationExplanation) -> str:
    """What would have to happen for another answer."""
    row, flow = found.decision, found.flow
    code, committed = row["reason_code"], row["upstream_offset"]
    match code:
        case "GROUP_FILTERED" | "TOPIC_FILTERED":
            what = "groups" if code == "GROUP_FILTERED" else "topics"
            filters = json.loads(flow["settings"]) if flow else {}
            return (
                f"other `{what}` or `{what}.exclude` of flow {row['flow']} in moldau.yml "
                f"(now {filters.get(what)!r} and {filters.get(f'{what}.exclude')!r})"
            )
        case "NO_COMMIT":
            return f"a commit of the group on {_here(found)} in {_source(found)}"
        case "HISTORY_UNREADABLE":
            return (
                f"a checkpoint of the group in {flow.get('checkpoints_topic_name')} of "
                f"{_target(found)} that can be decoded"
            )
        case "SYNCS_NOT_CAUGHT_UP":
            end = found.last_start["syncs_end_offset"] if found.last_start else "its end"
            return f"{_syncs_topic(found)} loaded up to offset {end}"
        case "NO_SYNC":
            anew = " as it was created anew: the syncs are of before" if found.partition else ""
            return f"a sync of {_here(found)} in {_syncs_topic(found)}{anew}"
        case "COMMIT_FROM_OLD_INCARNATION":
            return _commit_on_the_new_topic(found)
        case "BEFORE_FIRST_SYNC":
            return _before_first_sync(found)
        case "SYNC_FROM_OLD_INCARNATION":
            seen = (found.target_topic or {}).get("first_seen_at_ms")
            since = f" (seen first at {format_instant(seen)})" if seen is not None else ""
            return f"a sync of {_here(found)} that is of {_there(found)} as it is{since}"
        case "WOULD_EXCEED_TARGET_END":
            end = found.target_end and found.target_end["log_end_offset"]
            known = f" (the loaded ones end at {end})" if end is not None else ""
            return f"newer partition_states of {_there(found)} in {_target(found)}{known}"
        case "REPLAY_CATCHING_UP" if _stands_still(found):
            return "a step between syncs in which the target gains no more than the source, " + (
                "so that what waits catches up; or exactly.once.source.support: enabled"
            )
        case "REPLAY_CATCHING_UP":
            return _replay(found.partition) or _greater(found, row["observed_downstream_offset"])
        case "SKIP_DOWNSTREAM_REWIND" | "SKIP_REPEATED":
            return (
                f"{_greater(found, row['observed_downstream_offset'])}; or a commit of the group "
                f"before {row['observed_upstream_offset']}"
            )
    held = row["translated_offset"]
    return f"{_greater(found, held)}; or a commit of the group before {committed}"


def _commit_on_the_new_topic(found: TranslationExplanation) -> str:
    """By the time of the commit, or else by its topic id."""
    column = as_counted(found.decision, "commits_valid_from_ms")
    since = found.partition[column] if found.partition else None
    if since is None or (found.decision["commit_at_ms"] or 0) >= since:
        return f"a commit of the group on {_here(found)} as it was created anew"
    return f"a commit of the group at {format_instant(since)} or later"


def _greater(found: TranslationExplanation, than: int) -> str:
    """What would translate to more than `than`."""
    committed = found.decision["upstream_offset"]
    first = 0 if found.sync is None else found.sync["upstream_offset"] + 1
    between = f"a sync of a record from {first} to {committed}" if first <= committed else ""
    after = found.next_sync["upstream_offset"] if found.next_sync else None
    if switches(found.decision)["syncs_used"] != "all":
        further = f"a commit behind the next sync that {found.decision['ruleset']} keeps"
    elif after is None or after <= committed:
        further = "a later sync and a commit behind its record"
    else:
        further = f"a commit at {after} or later"
    return f"a translation above {than}: {', or '.join(filter(None, (further, between)))}"


def _before_first_sync(found: TranslationExplanation) -> str:
    row, first = found.decision, found.first_sync
    if switches(found.decision)["syncs_used"] != "all":
        return f"a commit behind the oldest sync that {row['ruleset']} still keeps"
    commit = "a commit behind the first record with a sync"
    if first:
        commit = f"a commit at {first['upstream_offset']} or later, the first record with a sync"
    replayed = found.replayed_sync
    replay = _replay(found.partition)
    if replay and replayed and replayed["upstream_offset"] <= row["upstream_offset"]:
        commit = f"{replay}; or {commit}"
    is_first_log = not row[as_counted(found.decision, "incarnation")] or (
        first and first["downstream_offset"] == 0
    )
    if found.flow.get("clamp_first"):
        missing = "a part of the history is missing"
        why = missing if is_first_log else "the target may hold copies from before its first sync"
        return f"{commit}; `clamp_first` does not help, as {why}"
    if not is_first_log:
        return commit
    return f"{commit}; or `clamp_first: true` for the flow, if none of the history is missing"


def _replay(partition: Row | None) -> str | None:
    if partition is None or partition["old_head"] is None or partition["is_admitted"]:
        return None
    if partition["caught_up_offset"] is None:
        return (
            f"the replay comes to record {partition['old_head']} and {partition['tail']} places "
            "further"
        )
    place = partition["caught_up_offset"] + partition["tail"]
    return f"the replay has a sync at {place} or later in the target"


def _before(found: TranslationExplanation) -> str:
    change = found.last_change
    if change is None or change["previous_decision"] is None:
        return ""
    return (
        f"; before run {change['run_id']} it was {change['previous_decision']} "
        f"({change['previous_reason_code']})"
    )
