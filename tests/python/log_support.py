"""A log of __consumer_offsets, written record by record."""

from __future__ import annotations

from encode import encode_key, encode_value
from spark_support import Record

FAMILY = "consumer_offsets"


class Log:
    """Records of one partition, one behind the other."""

    def __init__(self, partition: int = 0) -> None:
        self.partition = partition
        self.records: list[Record] = []

    def add(self, key: bytes | None, value: bytes | None, at_ms: int = 0, offset: int = -1) -> None:
        position = offset if offset >= 0 else len(self.records)
        self.records.append(Record(self.partition, position, at_ms, key, value))

    def commit(
        self, group: str, topic: str = "t", kind: int = 1, at_ms: int = 0, offset: int = 5
    ) -> None:
        value = encode_value(FAMILY, 1, 3, {"offset": offset, "commitTimestamp": at_ms})
        self.add(self.commit_key(group, topic, kind), value, max(at_ms, 0))

    def remove_commit(self, group: str, topic: str = "t", kind: int = 1) -> None:
        self.add(self.commit_key(group, topic, kind), None)

    @staticmethod
    def commit_key(group: str, topic: str = "t", kind: int = 1) -> bytes:
        key = encode_key(FAMILY, kind, {"group": group, "topic": topic, "partition": 0})
        assert key is not None
        return key

    @staticmethod
    def group_key(group: str, kind: int = 17) -> bytes:
        names = {"group": group} if kind == 2 else {"groupId": group}
        key = encode_key(FAMILY, kind, names)
        assert key is not None
        return key

    def streams(self, group: str, stored: int = -1, epoch: int = 2, failed: int = -1) -> None:
        value = {
            "epoch": epoch,
            "storedDescriptionTopologyEpoch": stored,
            "failedDescriptionTopologyEpoch": failed,
        }
        self.add(self.group_key(group), encode_value(FAMILY, 17, 0, value))

    def classic(self, group: str, protocol_type: str = "consumer") -> None:
        value = {"protocolType": protocol_type, "generation": 4, "currentStateTimestamp": 7}
        self.add(self.group_key(group, 2), encode_value(FAMILY, 2, 3, value))

    def member(self, group: str, member: str = "m", kind: int = 5) -> None:
        key = encode_key(FAMILY, kind, {"groupId": group, "memberId": member})
        self.add(key, encode_value(FAMILY, kind, 0, {"subscribedTopicNames": ["t"]}))


PARTS: dict[int, str] = {
    5: "memberId", 6: "", 7: "memberId", 8: "memberId", 16: "regularExpression", 10: "memberId",
    12: "", 13: "memberId", 14: "memberId", 15: "", 19: "memberId", 20: "", 21: "memberId",
    22: "memberId", 23: "",
}  # fmt: skip


def part_of_group(kind: int, group: str) -> bytes:
    names = {"groupId": group} | ({PARTS[kind]: "m"} if PARTS[kind] else {})
    key = encode_key(FAMILY, kind, names)
    assert key is not None
    return key


def middle_log(partition: int = 0) -> Log:
    """Parts of groups whose beginning is lost, of each type, and groups that are whole."""
    log = Log(partition)
    for kind in PARTS:
        log.add(part_of_group(kind, f"part {kind:02}"), b"\0\x63")  # whatever its value says
        log.add(part_of_group(kind, f"removed {kind:02}"), None)
    log.member("whole")
    log.add(log.group_key("whole", 3), None)
    log.streams("streams")
    log.member("streams", kind=19)
    log.commit("commits only")
    log.classic("classic")
    return log
