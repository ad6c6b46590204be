"""Records as Kafka's own tools print them, back into bytes.

Kafka prints a message as JSON with its fields' names, uuids and bytes as base64
(`CoordinatorRecordJsonConverters`). `kafka-dump-log.sh` prints what members of a classic group
said as the message that it is, and a transaction's status by its name; both print remote log
metadata as Java's `toString` has it, without the bytes of custom metadata.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from moldau.records.definitions import CONSUMER_PROTOCOL_MESSAGES
from moldau.records.encode import encode_key, encode_message, encode_value
from moldau.records.families import FAMILIES, REMOTE_LOG_METADATA, TRANSACTION_STATE
from moldau.records.flat_sources import PARTITION_DELETE_STATES, SEGMENT_STATES
from moldau.records.wire_schema import Field

_STATUSES = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
    "PrepareEpochFence",
)  # fmt: skip
_EMBEDDED = {
    "subscription": CONSUMER_PROTOCOL_MESSAGES["ConsumerProtocolSubscription"],
    "assignment": CONSUMER_PROTOCOL_MESSAGES["ConsumerProtocolAssignment"],
}
_SEGMENT = re.compile(
    r"RemoteLogSegmentMetadata(?P<is_update>Update)?\{remoteLogSegmentId=RemoteLogSegmentId\{"
    r"topicIdPartition=(?P<partition>.+?), id=(?P<id>[\w-]{22})\}, (?P<rest>.*)\}"
)
_DELETION = re.compile(
    r"RemotePartitionDeleteMetadata\{topicPartition=(?P<partition>.+?), (?P<rest>.*)\}"
)
_PARTITION = re.compile(r"(?P<id>[\w-]{22}):(?P<name>.*)-(?P<partition>\d+)")
_PAIR = re.compile(r"(\w+)=(\{[^}]*\}|[^,]*)")


def key_of(family: str, printed: Mapping[str, Any]) -> bytes:
    """The bytes of `{"type": …, "data": {…}}`; ValueError if it is no key of the family."""
    number = _number(printed, "type")
    record = FAMILIES[family].types.get(number)
    if record is None or record.key is None:
        raise ValueError(f"type {number} is none that moldau knows")
    key = encode_key(family, number, _values(record.key.fields, printed.get("data"), family))
    assert key is not None
    return key


def value_of(
    family: str, number: int, printed: Mapping[str, Any], size: int | None = None
) -> bytes:
    """The bytes of `{"version": …, "data": {…}}` of a record of this type.

    `size` of the original, where it was printed: of several ways to write what members of a
    classic group said, the one that fits is it. ValueError if it is no value of that type.
    """
    version = _number(printed, "version")
    record = FAMILIES[family].types[number]
    if version not in record.value.valid:
        raise ValueError(f"version {version} of a {record.name} is none that moldau knows")
    first = None
    for data in _embedded(printed.get("data")):
        values = _values(record.value.fields, data, family)
        try:
            value = encode_value(family, number, version, values)
        except (struct.error, TypeError, AttributeError):
            raise ValueError(f"a field of the {record.name} is of another type") from None
        if size is None or len(value) == size:
            return value
        first = value if first is None else first
    assert first is not None
    return first


def remote_log_value(text: str) -> bytes:
    """The bytes of a metadata of the remote log, as Java prints it; ValueError if it is none."""
    segment, deletion = _SEGMENT.fullmatch(text), _DELETION.fullmatch(text)
    found = segment or deletion
    if not found:
        raise ValueError("it is no metadata of the remote log as Kafka prints it")
    told = dict(_PAIR.findall(found["rest"]))
    partition = _PARTITION.fullmatch(found["partition"])
    try:
        if not partition:
            raise ValueError
        entry = {
            "name": partition["name"],
            "id": _uuid(partition["id"]),
            "partition": int(partition["partition"]),
        }
        values: dict[str, Any] = {
            "brokerId": int(told["brokerId"]),
            "eventTimestampMs": int(told["eventTimestampMs"]),
        }
        if deletion:
            values |= {"topicIdPartition": entry}
            values["remotePartitionDeleteState"] = PARTITION_DELETE_STATES.index(told["state"])
            return encode_value(REMOTE_LOG_METADATA, 2, 0, values)
        assert segment
        values["remoteLogSegmentId"] = {"topicIdPartition": entry, "id": _uuid(segment["id"])}
        values["remoteLogSegmentState"] = SEGMENT_STATES.index(told["state"])
        if segment["is_update"]:
            return encode_value(REMOTE_LOG_METADATA, 1, 0, values)
        names = ("startOffset", "endOffset", "maxTimestampMs", "segmentSizeInBytes")
        values |= {name: int(told[name]) for name in names}
        epochs = [each.split("=") for each in told["segmentLeaderEpochs"][1:-1].split(", ") if each]
        values["segmentLeaderEpochs"] = [
            {"leaderEpoch": int(epoch), "offset": int(offset)} for epoch, offset in epochs
        ]
        values["txnIndexEmpty"] = told.get("txnIdxEmpty") == "true"
        return encode_value(REMOTE_LOG_METADATA, 0, 0, values)
    except (KeyError, ValueError, struct.error):
        raise ValueError("a field of the remote log's metadata is missing or malformed") from None


def _number(printed: Any, name: str) -> int:
    try:
        return int(printed[name])
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"it has no {name} as Kafka prints it") from None


def _values(fields: tuple[Field, ...], data: Any, family: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError("its data is no JSON object")
    by_name = {field.name: field for field in fields}
    unknown = sorted(data.keys() - by_name.keys())
    if unknown:
        raise ValueError(f"moldau knows no field {', '.join(unknown)} of it")
    return {name: _value(by_name[name], value, family) for name, value in data.items()}


def _value(field: Field, value: Any, family: str) -> Any:
    if value is None:
        return None
    if field.is_array:
        if not isinstance(value, list):
            raise ValueError(f"{field.name} is no list")
        return [_one(field, each, family) for each in value]
    return _one(field, value, family)


def _one(field: Field, value: Any, family: str) -> Any:
    if field.struct is not None:
        return _values(field.struct, value, family)
    if field.kind == "uuid":
        return _uuid(value)
    if field.kind == "bytes" and isinstance(value, str):
        return base64.b64decode(value)
    if family == TRANSACTION_STATE and field.name == "transactionStatus" and value in _STATUSES:
        return _STATUSES.index(value)
    wanted = {"string": str, "bool": bool, "bytes": bytes}.get(field.kind, int)
    if not isinstance(value, wanted) or isinstance(value, bool) != (wanted is bool):
        raise ValueError(f"{field.name} is of another type")
    return value


def _uuid(text: Any) -> bytes:
    try:
        found = base64.urlsafe_b64decode(f"{text}==")
    except ValueError:
        found = b""
    if len(found) != 16:
        raise ValueError(f"{text!r} is no uuid")
    return found


def _embedded(data: Any) -> Iterator[Any]:
    """The data with what members said as bytes, in every version; as it is where that is so."""
    members = data.get("members") if isinstance(data, dict) else None
    if not isinstance(members, list) or not any(_is_decoded(each) for each in members):
        yield data
        return
    for version in (3, 2, 1, 0):
        yield data | {"members": [_packed(each, version) for each in members]}


def _is_decoded(member: Any) -> bool:
    return isinstance(member, dict) and any(isinstance(member.get(it), dict) for it in _EMBEDDED)


def _packed(member: Any, version: int) -> Any:
    packed = dict(member) if isinstance(member, dict) else member
    for name, message in _EMBEDDED.items():
        if isinstance(member, dict) and isinstance(told := member.get(name), dict):
            values = _values(message.fields, told, "")
            packed[name] = struct.pack(">h", version) + encode_message(message, version, values)
    return packed
