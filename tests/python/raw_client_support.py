"""Requests that no Python client has: members of groups of the new kinds, and what Kafka describes.

The messages are written down in the notation of `moldau.records`, by which `encode.py` writes.
"""

from __future__ import annotations

import socket
import struct
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from encode import encode_message

from moldau.records.wire_schema import parse_messages

REQUESTS = """
OffsetCommit 8 2
    groupId string
    generationIdOrMemberEpoch int32 = -1
    memberId string
    retentionTimeMs int64 = -1
    topics []Topic
        name string
        partitions []Partition
            partitionIndex int32
            committedOffset int64
            committedMetadata string? = null
ConsumerGroupHeartbeat 68 1 flexible 1+
    groupId string
    memberId string
    memberEpoch int32
    instanceId string? = null
    rackId string? = null
    rebalanceTimeoutMs int32 = -1
    subscribedTopicNames []string? = null
    subscribedTopicRegex string? = null
    serverAssignor string? = null
    topicPartitions []string? = null
ConsumerGroupDescribe 69 0 flexible 0+ | groupIds []string | includeAuthorizedOperations bool
ShareGroupHeartbeat 76 1 flexible 1+
    groupId string
    memberId string
    memberEpoch int32
    rackId string? = null
    subscribedTopicNames []string? = null
ShareGroupDescribe 77 1 flexible 1+ | groupIds []string | includeAuthorizedOperations bool
StreamsGroupHeartbeat 88 1 flexible 1+
    groupId string
    memberId string
    memberEpoch int32
    endpointInformationEpoch int32
    instanceId string? = null
    rackId string? = null
    rebalanceTimeoutMs int32 = -1
    topology Topology? = null
        epoch int32
        subtopologies []Subtopology
            subtopologyId string
            sourceTopics []string
            sourceTopicRegex []string
            stateChangelogTopics []string
            repartitionSinkTopics []string
            repartitionSourceTopics []string
            copartitionGroups []string
    activeTasks []string? = null
    standbyTasks []string? = null
    warmupTasks []string? = null
    processId string? = null
    userEndpoint Endpoint? = null
        host string
        port uint16
    clientTags []string? = null
    taskOffsets []string? = null
    taskEndOffsets []string? = null
    shutdownApplication bool
StreamsGroupDescribe 89 0 flexible 0+ | groupIds []string | includeAuthorizedOperations bool
StreamsGroupTopologyDescriptionUpdate 93 0 flexible 0+
    groupId string
    memberId string
    topologyEpoch int32
    topologyDescription Description
        subtopologies []Subtopology
            subtopologyId string
            nodes []Node
                name string
                nodeType int8
                sourceTopics []string
                sinkTopic string? = null
                stores []string
                successors []string
        globalStores []string
"""
_MESSAGES = {message.name: message for message in parse_messages(REQUESTS)}

NONE, UPDATE_FAILED = 0, 135
_PASSING = {14, 15, 16}  # the coordinator loads, is not there yet, or is another
_ENOUGH_S = 30
_ANSWER_S = 10
_EMPTY: tuple[str, ...] = ()
_DESCRIPTION = {
    "subtopologies": [
        {
            "subtopologyId": "0",
            "nodes": [
                {"name": "source", "nodeType": 1, "sourceTopics": ["orders"],
                 "stores": _EMPTY, "successors": ["processor"]},
                {"name": "processor", "nodeType": 2, "sourceTopics": _EMPTY,
                 "stores": _EMPTY, "successors": _EMPTY},
            ],
        }
    ],
    "globalStores": _EMPTY,
}  # fmt: skip


@dataclass(frozen=True)
class Described:
    """What Kafka says of a group: its state in Kafka's words, and two of its epochs."""

    state: str
    group_epoch: int
    assignment_epoch: int


class _Answer:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self, layout: str) -> int:
        found: int = struct.unpack_from(layout, self._data, self._at)[0]
        self._at += struct.calcsize(layout)
        return found

    def text(self) -> str:
        """A compact string of less than 16 KiB; null is empty."""
        size = self._count()
        self._at += size
        return self._data[self._at - size : self._at].decode()

    def _count(self) -> int:
        low = self.number("B")
        size = low if low < 0x80 else low & 0x7F | self.number("B") << 7
        return max(size - 1, 0)


class RawClient:
    """One connection to one broker, one request after the other."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), _ANSWER_S)

    def close(self) -> None:
        self._socket.close()

    def commit(
        self, group: str, topic: str, offsets: dict[int, int], retention_ms: int = -1
    ) -> None:
        """As a client before Kafka 2.1 does: `retention_ms` makes the expiry explicit.

        By nobody in particular, which Kafka allows while a group has no member.
        """
        partitions = [
            {"partitionIndex": index, "committedOffset": offset}
            for index, offset in offsets.items()
        ]
        topics = [{"name": topic, "partitions": partitions}]
        values = {"groupId": group, "memberId": "", "topics": topics}
        answer = self._ask("OffsetCommit", {**values, "retentionTimeMs": retention_ms})
        codes = {answer[-6 * (n + 1) :][4:6] for n in range(len(partitions))}
        assert codes == {b"\0\0"}, (group, answer)

    @contextmanager
    def member(self, kind: str, group: str, topic: str) -> Iterator[Member]:
        """A member of a consumer, share or streams group, which leaves at the end of the block."""
        joined = Member(self, kind, group)
        joined.join(topic)
        try:
            yield joined
        finally:
            joined.leave()

    def heartbeat(self, kind: str, values: dict[str, Any]) -> int:
        """The member epoch that the coordinator gives; asks on while it is not there yet."""
        end = time.monotonic() + _ENOUGH_S
        while True:
            answer = _Answer(self._ask(f"{kind.title()}GroupHeartbeat", values)[1:])
            answer.number(">i")  # throttle
            code, told = answer.number(">h"), answer.text()
            if code == NONE:
                answer.text()
                return answer.number(">i")
            assert code in _PASSING and time.monotonic() < end, (values, code, told)
            time.sleep(0.2)

    def push(self, group: str, member: str) -> int:
        """Push a topology description; Kafka's error code."""
        values = {"groupId": group, "memberId": member, "topologyEpoch": 0}
        answer = _Answer(
            self._ask(
                "StreamsGroupTopologyDescriptionUpdate",
                {**values, "topologyDescription": _DESCRIPTION},
            )[1:]
        )
        answer.number(">i")
        return answer.number(">h")

    def describe(self, kind: str, group: str) -> Described:
        values = {"groupIds": [group], "includeAuthorizedOperations": False}
        answer = _Answer(self._ask(f"{kind.title()}GroupDescribe", values)[1:])
        answer.number(">i")
        assert answer.number("B") == 2, "one group"
        code, told = answer.number(">h"), answer.text()
        assert code == NONE, (group, code, told)
        assert answer.text() == group
        return Described(answer.text(), answer.number(">i"), answer.number(">i"))

    def _ask(self, name: str, values: dict[str, Any]) -> bytes:
        """The answer behind its correlation id: a flexible one begins with a byte of tags."""
        message = _MESSAGES[name]
        version = message.valid.high
        client = b"moldau-tests"
        header = struct.pack(">hhih", message.api_key, version, 1, len(client)) + client
        tags = b"\0" if message.is_flexible(version) else b""
        body = header + tags + encode_message(message, version, values)
        self._socket.sendall(struct.pack(">i", len(body)) + body)
        (size,) = struct.unpack(">i", self._read(4))
        return self._read(size)[4:]

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            assert more, "the broker closed the connection"
            data += more
        return bytes(data)


class Member:
    """Of a consumer, share or streams group; nobody sends its heartbeats between two calls."""

    def __init__(self, client: RawClient, kind: str, group: str) -> None:
        self._client, self._kind, self._group = client, kind, group
        self._id = str(uuid.uuid4())

    def join(self, topic: str) -> None:
        more: dict[str, Any] = {"subscribedTopicNames": [topic]}
        if self._kind == "consumer":
            more |= {"rebalanceTimeoutMs": 10_000, "topicPartitions": _EMPTY}
        elif self._kind == "streams":
            lists = ("sourceTopicRegex", "stateChangelogTopics", "repartitionSinkTopics",
                     "repartitionSourceTopics", "copartitionGroups")  # fmt: skip
            part = {"subtopologyId": "0", "sourceTopics": [topic], **dict.fromkeys(lists, _EMPTY)}
            tasks = ("activeTasks", "standbyTasks", "warmupTasks", "clientTags")
            more = {
                "rebalanceTimeoutMs": 10_000,
                "processId": "p",
                "topology": {"epoch": 0, "subtopologies": [part]},
                **dict.fromkeys(tasks, _EMPTY),
            }
        self._heartbeat(0, more)

    def push(self) -> int:
        return self._client.push(self._group, self._id)

    def leave(self) -> None:
        self._heartbeat(-1, {})

    def _heartbeat(self, epoch: int, more: dict[str, Any]) -> None:
        values = {"groupId": self._group, "memberId": self._id, "memberEpoch": epoch}
        self._client.heartbeat(self._kind, {**values, **more})
