"""Where the log of each partition begins and ends: rows of `partition_states`."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError
from kafka.protocol.consumer.offsets import ListOffsetsRequest

from moldau.collecting.asker import Asker, Unsupported, error_name, in_parts
from moldau.collecting.topics import Partition, Topic, topics_again
from moldau.errors import MoldauError
from moldau.instants import now_ms

Key = tuple[str, int]
_CONSUMER, _DEBUGGING = -1, -2  # replica ids: a debugging one is told the end of the log itself
_UNCOMMITTED, _COMMITTED = 0, 1
_AT_ONCE = 5_000  # partitions of a request
_PAUSE_S = 0.5
_MOVED_WITHIN_S = 5.0  # a new leader is there by then, or there will be none for long
_MOVES = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,  # deleted meanwhile, or not known everywhere yet
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.KAFKA_STORAGE_ERROR,
}


@dataclass(frozen=True)
class _Question:
    """`timestamp` is ListOffsets' own code; `version`: the first that has it."""

    column: str
    timestamp: int
    isolation: int
    replica: int
    version: int
    is_needed: bool


# in this order no end lies before one that was asked for earlier
_QUESTIONS = (
    _Question("log_start_offset", -2, _UNCOMMITTED, _CONSUMER, 1, True),
    _Question("last_stable_offset", -1, _COMMITTED, _CONSUMER, 2, True),
    _Question("high_watermark", -1, _UNCOMMITTED, _CONSUMER, 1, True),
    _Question("log_end_offset", -1, _UNCOMMITTED, _DEBUGGING, 1, False),
    _Question("local_log_start_offset", -4, _UNCOMMITTED, _CONSUMER, 8, False),
    _Question("latest_tiered_offset", -5, _UNCOMMITTED, _CONSUMER, 9, False),
)


@dataclass(frozen=True)
class _Told:
    """`error`: null = the leader told all that is needed; `may_move`: another may tell it soon."""

    offsets: dict[str, int]
    taken_at_ms: int
    error: str | None = None
    may_move: bool = False


_NOTHING = _Told({}, 0, may_move=True)


def partition_states(
    asker: Asker, topics: Sequence[Topic]
) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each partition, of its leader, and what is to be said of those that told nothing.

    Of a partition that nobody leads, or whose leader told nothing, the row says that there is
    one. One whose leader moves meanwhile is asked again for a few seconds; a topic that is
    deleted meanwhile has no rows.
    """
    known = {topic.name: topic for topic in topics}
    open_ = {(topic.name, each.index): each for topic in topics for each in topic.partitions}
    told: dict[Key, tuple[Partition, _Told]] = {}
    deadline = time.monotonic() + min(asker.timeout, _MOVED_WITHIN_S)
    while True:
        for key, answer in _ask_leaders(asker, open_).items():
            told[key] = (open_[key], answer)
        moved = {key[0] for key in open_ if told[key][1].may_move}
        if not moved or time.monotonic() > deadline:
            break
        time.sleep(_PAUSE_S)
        again = topics_again(asker, moved)
        known |= again
        told = {key: answer for key, answer in told.items() if key[0] not in moved - again.keys()}
        open_ = {
            (name, each.index): each
            for name in moved & again.keys()
            for each in again[name].partitions
            if told.get((name, each.index), (None, _NOTHING))[1].may_move
        }
    rows = [_row(known[key[0]], *told[key]) for key in sorted(told)]
    findings = [
        f"{topic}-{index}: {answer.error}; its ends are unknown"
        for (topic, index), (_, answer) in sorted(told.items())
        if answer.error
    ]
    return rows, findings


def hidden_rows(partitions: Mapping[str, Iterable[int]]) -> list[dict[str, Any]]:
    """Rows of partitions of which others know, and that nobody may look at.

    Without them the snapshot would say that there is no such topic.
    """
    taken_at_ms = now_ms()
    return [
        {
            "topic": topic, "partition": index, "broker_id": -1, "is_leader": False,
            "taken_at_ms": taken_at_ms,
        }
        for topic, indexes in sorted(partitions.items())
        for index in sorted(indexes)
    ]  # fmt: skip


def _row(topic: Topic, partition: Partition, told: _Told) -> dict[str, Any]:
    is_leader = partition.leader_id is not None
    replica_id = min(partition.replica_ids, default=-1)
    return {
        "topic_id": topic.topic_id,
        "topic": topic.name,
        "partition": partition.index,
        "broker_id": partition.leader_id if is_leader else replica_id,
        "is_leader": is_leader,
        "leader_epoch": partition.leader_epoch,
        "taken_at_ms": told.taken_at_ms,
        **told.offsets,
    }


def _ask_leaders(asker: Asker, partitions: Mapping[Key, Partition]) -> dict[Key, _Told]:
    led: dict[int, list[Key]] = defaultdict(list)
    told: dict[Key, _Told] = {}
    for key, partition in partitions.items():
        if partition.leader_id is None:
            told[key] = _Told({}, now_ms(), "nobody leads it", may_move=True)
        else:
            led[partition.leader_id].append(key)
    for broker_id, keys in led.items():
        for some in in_parts(keys, _AT_ONCE):
            told |= _ask_leader(asker, broker_id, some)
    return told


def _ask_leader(asker: Asker, broker_id: int, keys: list[Key]) -> dict[Key, _Told]:
    taken_at_ms = now_ms()
    offsets: dict[Key, dict[str, int]] = {key: {} for key in keys}
    errors: dict[Key, int] = {}
    try:
        for question in _QUESTIONS:
            for key, code, offset in _ask(asker, broker_id, question, keys):
                if code:
                    if question.is_needed:
                        errors[key] = code
                elif offset >= 0 or question.column == "latest_tiered_offset":
                    offsets[key][question.column] = offset
    except MoldauError as error:
        return {key: _Told({}, taken_at_ms, str(error)) for key in keys}
    return {
        key: _Told({}, taken_at_ms, error_name(errors[key]), errors[key] in _MOVES)
        if key in errors
        else _Told(offsets[key], taken_at_ms)
        for key in keys
    }


def _ask(
    asker: Asker, broker_id: int, question: _Question, keys: list[Key]
) -> list[tuple[Key, int, int]]:
    """Partition, error and offset; nothing where the broker is older than the question."""
    of_topics: dict[str, list[int]] = defaultdict(list)
    for topic, index in keys:
        of_topics[topic].append(index)
    topic_of = ListOffsetsRequest.ListOffsetsTopic
    request = ListOffsetsRequest(
        replica_id=question.replica,
        isolation_level=question.isolation,
        topics=[
            topic_of(
                name=topic,
                partitions=[
                    topic_of.ListOffsetsPartition(
                        partition_index=index, timestamp=question.timestamp, current_leader_epoch=-1
                    )
                    for index in indexes
                ],
            )
            for topic, indexes in of_topics.items()
        ],
        min_version=question.version,
    )
    try:
        answer = asker.ask(request, broker_id)
    except Unsupported:
        if question.is_needed:
            raise
        return []
    return [
        ((topic.name, each.partition_index), each.error_code, each.offset)
        for topic in answer.topics
        for each in topic.partitions
    ]
