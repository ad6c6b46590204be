"""Real records, one field each set to an extreme: what no broker writes and bytes can say."""

from __future__ import annotations

import base64
import contextlib
import copy
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from encode import encode_key, encode_value
from records_support import plain_rows, unbase64

from moldau.loading.shapes import shapes
from moldau.records.families import FAMILIES
from moldau.records.wire_schema import Field, default_of

FIXTURES = Path(__file__).parents[2] / "fixtures" / "captures"
SAMPLES = Path(__file__).parents[3] / "samples"
_ODD = ("'", '"', "\\", "`", "\0", "${x}", "{{ x }}", "a\nb", "\N{PILE OF POO}")
_TEXTS = ("", "x" * 32_767, "".join(_ODD))
_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_RECORD_TIMES = (-1, 0, 2**63 - 1)
Row = dict[str, Any]
Path_ = tuple[str | int, ...]


def lines_of(file: Path) -> list[Row]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def extremes_of(field: Field) -> tuple[Any, ...]:
    """Of one value, or of one element of an array."""
    if field.kind == "string":
        return _TEXTS
    if field.kind == "bytes":
        return (b"", b"\0", b"\xff" * 32_767)
    if field.kind == "uuid":
        return (bytes(16), b"\xff" * 16)
    if field.kind == "bool":
        return (False, True)
    if field.kind == "uint16":
        return (0, 2**16 - 1)
    half = 2 ** (_BITS[field.kind] - 1)
    return (-half, half - 1, -1, -2, 0)


def changes(fields: tuple[Field, ...], version: int, value: Row) -> Iterator[tuple[Path_, Any]]:
    """Where in a struct which value is put; of an array the first element, or one by default."""
    for field in fields:
        if not field.present_in(version):
            continue
        here: Path_ = (field.name,)
        if field.nullable:
            yield here, None
        if field.is_array:
            yield here, []
            element = (value[field.name] or [_blank(field, version)])[0]
            if not value[field.name]:
                yield here, [element]
            if field.struct is None:
                yield from ((here, [extreme]) for extreme in extremes_of(field))
            else:
                for path, extreme in changes(field.struct, version, element):
                    changed = copy.deepcopy(element)
                    put(changed, path, extreme)
                    yield here, [changed, *(value[field.name] or [])[1:]]
        elif field.struct is not None:
            if value[field.name] is not None:
                inner = changes(field.struct, version, value[field.name])
                yield from (((*here, *path), extreme) for path, extreme in inner)
        else:
            yield from ((here, extreme) for extreme in extremes_of(field))


def _blank(field: Field, version: int) -> Any:
    if field.struct is None:
        return extremes_of(field)[0]
    return {f.name: default_of(f, version) for f in field.struct if f.present_in(version)}


def put(value: Any, path: Path_, extreme: Any) -> None:
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = extreme


def decoded(family: str, lines: list[Row]) -> list[Row]:
    """The rows of these lines (key and value as dicts), with the instant of each record."""
    keys, values = (
        [unbase64(line[f"{part}_base64"]) for line in lines] for part in ("key", "value")
    )
    rows = plain_rows(family, keys, values)
    return [row | {"at_ms": line["timestamp_ms"]} for row, line in zip(rows, lines, strict=True)]


def encoded(family: str, row: Row) -> tuple[bytes | None, bytes | None]:
    kind = row["record_type"]
    if row["value"] is None:
        return encode_key(family, kind, row["key"]), None
    value = encode_value(family, kind, row["value_version"], row["value"])
    return encode_key(family, kind, row["key"] or {}), value[: row.get("cut")]


def with_extremes(family: str, row: Row) -> Iterator[Row]:
    """The row with one field changed, for each field of its key and value and each extreme."""
    record = FAMILIES[family].types[row["record_type"]]
    sides = {"value": (record.value.fields, row["value_version"])}
    if record.key is not None:
        sides["key"] = (record.key.fields, 0)
    for side, (fields, version) in sides.items():
        found = list(changes(fields, version, row[side]))
        if side == "key":  # names: each oddity by itself
            texts = [path for path, extreme in found if extreme == _TEXTS[-1]]
            found += [(path, text) for path in texts for text in _ODD]
        for path, extreme in found:
            changed = copy.deepcopy(row)
            put(changed[side], path, extreme)
            yield changed | {"what": (row["record_type"], side, *path)}
    for at_ms in _RECORD_TIMES:
        yield row | {"at_ms": at_ms, "what": (row["record_type"], "timestamp")}
    for cut in (0, 2, -1):
        yield row | {"cut": cut, "what": (row["record_type"], "value cut off")}


class Lines:
    """Lines of a file of kind `records`, one behind the other in one partition."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.lines: list[str] = []

    def add(self, key: bytes | None, value: bytes | None, at_ms: int) -> None:
        texts = [None if it is None else base64.b64encode(it).decode() for it in (key, value)]
        row = {
            "topic": self.topic,
            "partition": 0,
            "offset": len(self.lines),
            "timestamp_ms": at_ms,
        }
        self.lines.append(json.dumps(row | {"key_base64": texts[0], "value_base64": texts[1]}))


def _by_story(rows: list[Row], name_of: Callable[[Row], str]) -> dict[str, list[Row]]:
    stories: dict[str, list[Row]] = {}
    for row in rows:
        stories.setdefault(name_of(row), []).append(row)
    return stories


def group_extremes(is_all_told: bool) -> list[str]:
    """Lines of `__consumer_offsets`: each record with an extreme in the story of its group.

    Each story is told under a group of its own; `is_all_told`: with the removal of the group and
    its offsets, else they are still there, and empty once the members have left.
    """
    family = "consumer_offsets"
    rows = [_legacy_commit(), _partition_metadata()]
    for capture in ("groups", "cleanup-failing"):
        rows += decoded(family, lines_of(FIXTURES / capture / "__consumer_offsets.jsonl"))
    stories = _by_story(rows, _group_of)
    told = Lines("__consumer_offsets")
    kinds = {_kind(row) for row in rows if row["value"] is not None}
    for kind in sorted(kinds):
        places = {name: _last_of(kind, story) for name, story in stories.items()}
        # of streams groups one whose description stays stored, because its deletes fail
        name = min(
            (name for name, at in places.items() if at is not None),
            key=lambda name: (not name.startswith("fail-"), len(stories[name])),
        )
        story, place = stories[name], places[name]
        for changed in with_extremes(family, story[place]):
            clone = [*story[:place], changed, *story[place + 1 :]]
            kept = [row for row in clone if is_all_told or not _is_removal(row)]
            _tell_group(told, family, kept, changed["what"])
    return told.lines


def _is_removal(row: Row) -> bool:
    return row["value"] is None and row["record_type"] in (0, 1, 2, 3, 11, 17)


def _kind(row: Row) -> tuple[int, int]:
    return (row["record_type"], row["value_version"])


def _last_of(kind: tuple[int, int], story: list[Row]) -> int | None:
    found = [at for at, row in enumerate(story) if row["value"] is not None and _kind(row) == kind]
    return found[-1] if found else None


def _group_of(row: Row) -> str:
    return str(row["key"].get("groupId", row["key"].get("group")))


def _tell_group(told: Lines, family: str, story: list[Row], what: Path_) -> None:
    name = f"g{len(told.lines)}"
    for row in story:
        if what[-1] not in ("group", "groupId"):
            key = row["key"] | {"groupId" if "groupId" in row["key"] else "group": name}
            row = row | {"key": key}
        told.add(*encoded(family, row), row["at_ms"])


def _legacy_commit() -> Row:
    value = {"offset": 5, "metadata": "", "commitTimestamp": 1_795_000_000_000}
    key = {"group": "legacy", "topic": "orders", "partition": 0}
    return {"record_type": 0, "value_version": 0, "key": key, "value": value, "at_ms": 0}


def _partition_metadata() -> Row:
    partitions = [{"partition": 0, "racks": ["r"]}]
    topic = {"topicId": b"\1" * 16, "topicName": "t", "numPartitions": 1}
    value = {"topics": [topic | {"partitionMetadata": partitions}]}
    row = {"record_type": 4, "value_version": 0, "at_ms": 0}
    return row | {"key": {"groupId": "old"}, "value": value}


def other_extremes() -> Iterator[str]:
    """Lines of the topics whose records are decoded and folded into nothing yet."""
    for family, file in (
        ("offset_syncs", "mirror-lag0/1-first-run/A.mm2-offset-syncs.B.internal"),
        ("checkpoints", "mirror-lag0/1-first-run/B.A.checkpoints.internal"),
        ("share_group_state", "groups/__share_group_state"),
        ("transaction_state", "groups/__transaction_state"),
    ):
        lines = lines_of(FIXTURES / f"{file}.jsonl")
        told = Lines(lines[0]["topic"])
        latest = {row["record_type"]: row for row in decoded(family, lines) if row["value"]}
        for row in latest.values():
            for changed in with_extremes(family, row):
                told.add(*encoded(family, changed), changed["at_ms"])
        yield from told.lines


class Tiers(Lines):
    """Lines of `__remote_log_metadata`, and of the snapshots of their partitions."""

    def __init__(self) -> None:
        super().__init__("__remote_log_metadata")
        self.snapshots: dict[str, list[str]] = {kind: [] for kind in SNAPSHOTS}
        self.made = 0

    def tell(self, story: list[Row], snapshots: Mapping[str, list[Row]], what: Any) -> None:
        """One partition, as a topic of its own and with segments of its own."""
        self.made += 1
        name, topic_id = f"t{self.made}", self.made.to_bytes(16)
        for row in copy.deepcopy(story):
            value = row["value"]
            segment = value.get("remoteLogSegmentId")
            partition = segment["topicIdPartition"] if segment else value["topicIdPartition"]
            if "topicIdPartition" not in what:
                partition |= {"name": name, "id": topic_id}
            if segment and "id" not in what:
                segment["id"] = _mixed(segment["id"], topic_id)
            self.add(*encoded("remote_log_metadata", row), row["at_ms"])
        text_id = base64.urlsafe_b64encode(topic_id).decode().rstrip("=")
        for kind, rows in snapshots.items():
            texts = [json.dumps(row | {"topic": name, "topic_id": text_id}) for row in rows]
            self.snapshots[kind] += texts


SNAPSHOTS = ("topic_configs", "partition_states", "leader_epochs", "local_segments")


def _mixed(segment_id: bytes, topic_id: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(segment_id, topic_id, strict=True))


def tier_extremes() -> Tiers:
    """The events of a topic with one field of one event changed, and its snapshots likewise."""
    family, topic = "remote_log_metadata", "tier-b"
    rows = decoded(family, lines_of(SAMPLES / "tiers" / "__remote_log_metadata.jsonl"))
    story = [row for row in rows if _topic_of(row) == topic]
    story.append(_partition_delete(story[0]))
    snapshots = {
        kind: [
            row for row in lines_of(SAMPLES / "tiers" / f"{kind}.jsonl") if row["topic"] == topic
        ]
        for kind in SNAPSHOTS
    }
    snapshots["topic_configs"][0]["configs"] |= {"retention.ms": 1_000, "retention.bytes": 1}
    told = Tiers()
    for place, row in enumerate(story):
        for changed in with_extremes(family, row):
            told.tell([*story[:place], changed, *story[place + 1 :]], snapshots, changed["what"])
    for kind, rows_told in snapshots.items():
        for other in _extreme_rows(rows_told[0]):
            with contextlib.suppress(ValueError):
                shapes()[kind].check(other)  # one line that is refused would refuse the snapshot
                told.tell(story[:-1], snapshots | {kind: [other, *rows_told[1:]]}, ())
    return told


def _topic_of(row: Row) -> str:
    about = row["value"].get("remoteLogSegmentId") or row["value"]
    return str(about["topicIdPartition"]["name"])


def _partition_delete(row: Row) -> Row:
    about = row["value"]["remoteLogSegmentId"]["topicIdPartition"]
    value = {"topicIdPartition": about, "brokerId": 1, "eventTimestampMs": row["at_ms"]}
    return row | {"record_type": 2, "value": value | {"remotePartitionDeleteState": 0}}


def _extreme_rows(row: Row) -> Iterator[Row]:
    """The row of a snapshot with one number of it, or of its lists, changed; some are refused."""
    for field, value in row.items():
        if isinstance(value, list) and value:
            for other in _extreme_rows(value[0]):
                yield row | {field: [other, *value[1:]]}
        elif type(value) is int:
            yield from (row | {field: extreme} for extreme in (0, 2**31 - 1, 2**63 - 1))
