"""Groups, the ends that snapshots tell, and what `marts.group_lag` says of both."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from encode import encode_key, encode_value
from log_support import FAMILY, Log

T = 1_795_000_000_000
LARGEST = 2**63 - 1
OLD, NEW, ZERO = "old", "new", "zero"  # which id of its name a topic has
UNREADABLE = b"\0\x63"  # no version that there is
Right = tuple[int | None, int | None, str]  # lag, records_to_read, status


@dataclass(frozen=True)
class State:
    """What one broker said of a partition; `lso` and `end` are at `hw` unless they are given."""

    hw: int | None = 110
    lso: int | None = -2
    end: int | None = -2
    start: int | None = 0
    epoch: int | None = 5
    broker: int = 1
    leads: bool = True
    id: str | None = None
    partition: int = 0
    at_ms: int = T

    def row(self, topic: str) -> dict[str, Any]:
        return {
            "topic_name": topic,
            "partition_index": self.partition,
            "broker_id": self.broker,
            "topic_id": self.id and text_of(uuid_of(topic, self.id)),
            "leader_epoch": self.epoch,
            "log_start_offset": self.start,
            "local_log_start_offset": self.start,
            "last_stable_offset": self.hw if self.lso == -2 else self.lso,
            "high_watermark": self.hw,
            "log_end_offset": self.hw if self.end == -2 else self.end,
            "latest_tiered_offset": None,
            "is_leader": self.leads,
            "taken_at_ms": self.at_ms,
        }


def uuid_of(topic: str, which: str) -> bytes:
    if which == ZERO:
        return bytes(16)
    return hashlib.md5(f"{which} {topic}".encode(), usedforsecurity=False).digest()


def text_of(topic_id: bytes) -> str:
    return base64.urlsafe_b64encode(topic_id).decode().rstrip("=")


def states_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """With the columns of run.partition_states but `run_id`; rows have cluster_id too."""
    texts = dict.fromkeys(("cluster_id", "topic_name", "topic_id"), pa.string())
    ints = dict.fromkeys(("partition_index", "broker_id", "leader_epoch"), pa.int32())
    kinds = {**texts, **ints, "is_leader": pa.bool_()}
    schema = pa.schema([(name, kinds.get(name, pa.int64())) for name in _STATES])
    return pa.Table.from_pylist([dict(row) for row in rows], schema)


_STATES = ("cluster_id", *State().row(""))


class Groups(Log):
    """A log that groups are made in as clients make them."""

    def offset(
        self,
        group: str,
        topic: str,
        offset: int = 100,
        index: int = 0,
        id: str = ZERO,
        at_ms: int = T,
    ) -> None:
        value = {"offset": offset, "commitTimestamp": at_ms, "topicId": uuid_of(topic, id)}
        self.add(_offset_key(group, topic, index), encode_value(FAMILY, 1, 4, value), at_ms)

    def unreadable_offset(self, group: str, topic: str) -> None:
        self.add(_offset_key(group, topic), UNREADABLE, T)

    def no_offset(self, group: str, topic: str) -> None:
        self.add(_offset_key(group, topic), None, T)

    def consumer(self, group: str, *topics: str, regex: str | None = None) -> None:
        """A group of the new protocol with one member; its regex was resolved to `topics`."""
        named = [] if regex else list(topics)
        self.add(self.group_key(group, 3), encode_value(FAMILY, 3, 0, {"epoch": 1}), T)
        member = {"subscribedTopicNames": named, "subscribedTopicRegex": regex}
        key = {"groupId": group, "memberId": "m"}
        self.add(encode_key(FAMILY, 5, key), encode_value(FAMILY, 5, 0, member), T)
        if regex and topics:
            key = {"groupId": group, "regularExpression": regex}
            resolved = {"topics": list(topics), "version": 1, "timestamp": T}
            self.add(encode_key(FAMILY, 16, key), encode_value(FAMILY, 16, 0, resolved), T)

    def remove_group(self, group: str, kind: int = 2) -> None:
        self.add(self.group_key(group, kind), None, T)


def _offset_key(group: str, topic: str, index: int = 0) -> bytes | None:
    return encode_key(FAMILY, 1, {"group": group, "topic": topic, "partition": index})


# one commit on partition 0 of a topic of the case's name, what brokers said, what is right
ONE_COMMIT: dict[str, tuple[int, Sequence[State], Right]] = {
    "plain": (100, [State()], (10, 10, "OK")),
    "read it all": (110, [State()], (0, 0, "OK")),
    "not replicated": (95, [State(95, end=100)], (0, 0, "OK")),
    "open transaction": (100, [State(109, lso=102)], (9, 2, "OK")),
    "past the open one": (105, [State(110, lso=100)], (5, 0, "OK")),
    "before the start": (100, [State(150, start=130)], (50, 20, "COMMIT_BEFORE_START")),
    "purged": (100, [State(5000, start=5000)], (4900, 0, "COMMIT_BEFORE_START")),
    "open at the start": (1, [State(9, lso=5, start=5)], (8, 0, "COMMIT_BEFORE_START")),
    "ahead": (110, [State(100)], (0, 0, "COMMIT_AHEAD_OF_END")),
    "ahead of what is replicated": (105, [State(100, end=110)], (0, 0, "COMMIT_AHEAD_OF_END")),
    "empty log": (0, [State(0)], (0, 0, "OK")),
    # of brokers that say different things
    "later epoch first": (100, [State(160), State(110, broker=2, epoch=3)], (60, 60, "OK")),
    "later epoch last": (100, [State(110, epoch=3), State(160, broker=2)], (60, 60, "OK")),
    "later epoch, earlier end": (100, [State(104), State(110, broker=2, epoch=4)], (4, 4, "OK")),
    "later epoch, asked before": (
        100, [State(160, at_ms=T - 9), State(110, broker=2, epoch=4)], (60, 60, "OK"),
    ),
    "no epochs": (
        100, [State(epoch=None), State(130, broker=2, epoch=None, at_ms=T + 1)], (30, 30, "OK"),
    ),
    "epochs of -1": (
        100, [State(110, epoch=-1), State(130, broker=2, epoch=None, at_ms=T + 1)], (30, 30, "OK"),
    ),
    "an epoch and none": (
        100, [State(110, epoch=0), State(130, broker=2, epoch=None, at_ms=T + 1)], (10, 10, "OK"),
    ),
    "one epoch twice": (100, [State(130, broker=2), State(110)], (10, 10, "OK")),
    "follower is behind": (100, [State(), State(102, broker=2, leads=False)], (10, 10, "OK")),
    "follower of a later epoch": (
        100, [State(), State(500, broker=2, epoch=9, leads=False)], (10, 10, "OK"),
    ),
    "followers alone": (
        100, [State(leads=False), State(108, broker=2, leads=False)], (None, None, "NO_END_KNOWN"),
    ),
    "latest leader says nothing": (
        100, [State(None), State(broker=2, epoch=4)], (None, None, "NO_END_KNOWN"),
    ),
    # what a leader does not say
    "no high watermark": (100, [State(None, lso=103, end=110)], (None, 3, "NO_END_KNOWN")),
    "high watermark of -1": (100, [State(-1, lso=-1, end=110)], (None, None, "NO_END_KNOWN")),
    "no last stable offset": (100, [State(lso=None)], (10, None, "OK")),
    "last stable offset of -1": (100, [State(lso=-1)], (10, None, "OK")),
    "no log start": (100, [State(start=None)], (10, None, "OK")),
    "log start of -1, all read": (110, [State(start=-1)], (0, 0, "OK")),
    # commits that Kafka's clients take for none
    "commit of -1": (-1, [State()], (None, None, "NO_COMMIT")),
    "commit of the least": (-(2**63), [State(LARGEST)], (None, None, "NO_COMMIT")),
    # offsets that no broker writes
    "all to read": (0, [State(LARGEST)], (LARGEST, LARGEST, "OK")),
    "near the largest": (LARGEST - 2, [State(LARGEST)], (2, 2, "OK")),
    "the largest commit": (LARGEST, [State(5)], (0, 0, "COMMIT_AHEAD_OF_END")),
    "the largest start": (0, [State(LARGEST, start=LARGEST)], (LARGEST, 0, "COMMIT_BEFORE_START")),
    # topics
    "gone": (100, [], (None, None, "TOPIC_GONE")),
    "another partition": (100, [State(partition=1)], (None, None, "NO_END_KNOWN")),
    "Kafka's zero id": (100, [State(id=ZERO)], (10, 10, "OK")),
    "id in the snapshot alone": (100, [State(id=NEW)], (10, 10, "OK")),
}  # fmt: skip

# the same where the commit has the id OLD
COMMIT_WITH_ID: dict[str, tuple[int, Sequence[State], Right]] = {
    "same id": (100, [State(id=OLD)], (10, 10, "OK")),
    "no id in the snapshot": (100, [State()], (10, 10, "OK")),
    "zero id in the snapshot": (100, [State(id=ZERO)], (10, 10, "OK")),
    "another id": (100, [State(145, id=NEW)], (None, None, "TOPIC_RECREATED")),
    "another id, commit ahead": (100, [State(5, id=NEW)], (None, None, "TOPIC_RECREATED")),
    "another id, nothing told": (100, [State(None, id=NEW)], (None, None, "TOPIC_RECREATED")),
    "another id of followers": (
        100, [State(leads=False, id=NEW)], (None, None, "TOPIC_RECREATED"),
    ),
    "another id of another partition": (
        100, [State(partition=1, id=NEW)], (None, None, "TOPIC_RECREATED"),
    ),
    "same id of another partition": (
        100, [State(partition=1, id=OLD)], (None, None, "NO_END_KNOWN"),
    ),
    "the leader's id counts": (
        100, [State(id=OLD), State(broker=2, leads=False, id=NEW)], (10, 10, "OK"),
    ),
    "gone with its id": (100, [], (None, None, "TOPIC_GONE")),
}  # fmt: skip


@dataclass
class Cluster:
    """`right`: (group, topic, partition) -> what is said of it."""

    log: Groups = field(default_factory=Groups)
    states: list[dict[str, Any]] = field(default_factory=list)
    right: dict[tuple[str, str, int], Right] = field(default_factory=dict)

    def tell(self, topic: str, *states: State) -> None:
        self.states += [state.row(topic) for state in states]


def told() -> Cluster:
    """A cluster with a snapshot: each commit by a simple group of its own."""
    cluster = Cluster()
    cluster.tell("here", State())
    for cases, topic_id in ((ONE_COMMIT, ZERO), (COMMIT_WITH_ID, OLD)):
        for case, (committed, states, right) in cases.items():
            cluster.log.offset(case, case, committed, id=topic_id)
            cluster.tell(case, *states)
            cluster.right[case, case, 0] = right
    cluster.log.unreadable_offset("unreadable", "here")
    cluster.right["unreadable", "here", 0] = (None, None, "NO_COMMIT")
    for group, topic, index, right in _of_groups(cluster.log):
        cluster.right[group, topic, index] = right
    cluster.tell("two", State(101), State(101, partition=1))
    cluster.tell("led by nobody", State(leads=False))
    return cluster


def _of_groups(log: Groups) -> Iterator[tuple[str, str, int, Right]]:
    """What becomes of groups, and what they are subscribed to."""
    ok, none = (10, 10, "OK"), (None, None, "NO_COMMIT")
    log.classic("left")
    log.offset("left", "here")
    log.remove_group("left")

    log.offset("simple, left", "here")
    log.remove_group("simple, left")

    log.classic("came back")
    log.offset("came back", "here")
    log.remove_group("came back")
    log.offset("came back", "two")
    yield "came back", "here", 0, ok
    yield "came back", "two", 0, (1, 1, "OK")

    log.classic("back by a record")
    log.offset("back by a record", "here")
    log.remove_group("back by a record")
    log.classic("back by a record")
    yield "back by a record", "here", 0, ok

    log.classic("dead")
    log.offset("dead", "here")
    log.no_offset("dead", "here")
    log.remove_group("dead")

    log.classic("without offsets")
    log.offset("offset removed", "here")
    log.no_offset("offset removed", "here")

    log.consumer("live", "two")
    log.offset("live", "two")
    log.offset("live", "here")
    log.offset("live", "nowhere")
    yield "live", "two", 0, (1, 1, "OK")
    yield "live", "two", 1, none
    yield "live", "here", 0, (10, 10, "NOT_SUBSCRIBED")
    yield "live", "nowhere", 0, (None, None, "TOPIC_GONE")

    log.consumer("never committed", "two", "led by nobody", "nowhere")
    yield "never committed", "two", 0, none
    yield "never committed", "two", 1, none
    yield "never committed", "led by nobody", 0, (None, None, "NO_END_KNOWN")

    log.consumer("offset removed, subscribed", "here")
    log.offset("offset removed, subscribed", "here")
    log.no_offset("offset removed, subscribed", "here")
    yield "offset removed, subscribed", "here", 0, none

    log.consumer("by regex", "here", regex="h.*")
    log.offset("by regex", "two")
    yield "by regex", "here", 0, none
    yield "by regex", "two", 0, (1, 1, "NOT_SUBSCRIBED")

    # members of whom nothing tells what they subscribe to
    log.consumer("pattern not resolved", regex="h.*")
    log.offset("pattern not resolved", "here")
    yield "pattern not resolved", "here", 0, ok

    assigned = {"groupId": "assignment alone", "memberId": "m"}
    value = encode_value(FAMILY, 8, 0, {"memberEpoch": 3, "previousMemberEpoch": 2})
    log.add(encode_key(FAMILY, 8, assigned), value, T)
    log.offset("assignment alone", "here")
    yield "assignment alone", "here", 0, ok

    log.streams("no topology")
    value = encode_value(FAMILY, 19, 0, {})
    log.add(encode_key(FAMILY, 19, {"groupId": "no topology", "memberId": "m"}), value, T)
    log.offset("no topology", "here")
    yield "no topology", "here", 0, ok

    log.consumer("subscribed, left", "here")
    log.offset("subscribed, left", "here")
    log.add(encode_key(FAMILY, 5, {"groupId": "subscribed, left", "memberId": "m"}), None, T)
    log.remove_group("subscribed, left", 3)

    log.consumer("member is gone", "here")
    log.offset("member is gone", "two")
    log.add(encode_key(FAMILY, 5, {"groupId": "member is gone", "memberId": "m"}), None, T)
    yield "member is gone", "two", 0, (1, 1, "OK")

    share = {"groupId": "shared", "memberId": "m"}
    log.add(log.group_key("shared", 11), encode_value(FAMILY, 11, 0, {"epoch": 1}), T)
    value = encode_value(FAMILY, 10, 0, {"subscribedTopicNames": ["here"]})
    log.add(encode_key(FAMILY, 10, share), value, T)

    # a protocol of which nobody knows what it subscribes to
    members = [{"memberId": "m", "clientId": "c", "clientHost": "h", "subscription": b"?"}]
    value = encode_value(FAMILY, 2, 3, {
        "protocolType": "connect", "generation": 1, "protocol": "p", "leader": "m",
        "currentStateTimestamp": T, "members": members,
    })  # fmt: skip
    log.add(log.group_key("connect", 2), value, T)
    log.offset("connect", "here")
    yield "connect", "here", 0, ok


def untold() -> Cluster:
    """Without a snapshot nobody knows what a topic has."""
    cluster = Cluster()
    cluster.log.offset("app", "orders")
    cluster.log.offset("app", "orders", index=1, id=OLD)
    cluster.log.consumer("subscribed", "orders")
    for index in (0, 1):
        cluster.right["app", "orders", index] = (None, None, "NO_END_KNOWN")
    return cluster
