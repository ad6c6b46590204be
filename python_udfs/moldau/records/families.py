"""Which internal topic holds which kind of record, and how its records are framed.

Sources: ``GroupCoordinatorRecordSerde`` and the other coordinators' serdes (int16 type before the
key, int16 version before the value); ``BytesApiMessageSerde`` for remote log metadata (three
uvarints before the value); MirrorMaker's ``OffsetSync``, ``Checkpoint`` and ``Heartbeat``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from moldau.records import definitions
from moldau.records.wire_schema import Message

CONSUMER_OFFSETS = "consumer_offsets"
REMOTE_LOG_METADATA = "remote_log_metadata"
OFFSET_SYNCS = "offset_syncs"
CHECKPOINTS = "checkpoints"
HEARTBEATS = "heartbeats"
SHARE_GROUP_STATE = "share_group_state"
TRANSACTION_STATE = "transaction_state"

_FIXED_NAMES = {
    "__consumer_offsets": CONSUMER_OFFSETS,
    "__remote_log_metadata": REMOTE_LOG_METADATA,
    "__share_group_state": SHARE_GROUP_STATE,
    "__transaction_state": TRANSACTION_STATE,
    "heartbeats": HEARTBEATS,
}
# around MirrorMaker's names stands replication.policy.separator, whichever that is (KIP-949)
_OFFSET_SYNCS_NAME = re.compile(r"mm2-offset-syncs(.+?).+\1internal")
_CHECKPOINTS_NAME = re.compile(r".+?(.+)checkpoints\1internal")


def family_of(topic_name: str) -> str | None:
    """The family of an internal topic by its name; None for every other topic.

    A heartbeats topic that was itself mirrored (``A.heartbeats``) is the source's, not ours.
    """
    if topic_name in _FIXED_NAMES:
        return _FIXED_NAMES[topic_name]
    if _OFFSET_SYNCS_NAME.fullmatch(topic_name):
        return OFFSET_SYNCS
    if _CHECKPOINTS_NAME.fullmatch(topic_name):
        return CHECKPOINTS
    return None


@dataclass(frozen=True, slots=True)
class RecordType:
    """One record type: its name and the messages of its key and value."""

    number: int | None
    name: str
    key: Message | None
    value: Message


@dataclass(frozen=True, slots=True)
class Family:
    """The framing of one topic's records and the types found in it."""

    name: str
    typed_key: bool
    """An int16 record type stands before the key's body."""
    versioned_value: bool
    """An int16 version stands before the value's body."""
    framed_value: bool
    """Frame version, api key and version stand before the value as uvarints; there is no key."""
    trailing_is_error: bool
    types: dict[int | None, RecordType]


def _coordinator_types(messages: dict[str, Message]) -> dict[int | None, RecordType]:
    types: dict[int | None, RecordType] = {}
    for name, key in messages.items():
        if name.endswith("Key"):
            stem = name.removesuffix("Key")
            types[key.api_key] = RecordType(key.api_key, stem, key, messages[stem + "Value"])
    return types


def _coordinator(name: str, messages: dict[str, Message]) -> Family:
    return Family(name, True, True, False, False, _coordinator_types(messages))


def _mirror(name: str, stem: str, versioned: bool) -> Family:
    messages = definitions.MIRROR_MESSAGES
    record = RecordType(None, stem, messages[stem + "Key"], messages[stem + "Value"])
    return Family(name, False, versioned, False, False, {None: record})


def _remote_log() -> Family:
    types: dict[int | None, RecordType] = {
        value.api_key: RecordType(value.api_key, name.removesuffix("Record"), None, value)
        for name, value in definitions.REMOTE_LOG_MESSAGES.items()
    }
    return Family(REMOTE_LOG_METADATA, False, False, True, True, types)


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        _coordinator(CONSUMER_OFFSETS, definitions.GROUP_COORDINATOR_MESSAGES),
        _coordinator(SHARE_GROUP_STATE, definitions.SHARE_COORDINATOR_MESSAGES),
        _coordinator(TRANSACTION_STATE, definitions.TRANSACTION_COORDINATOR_MESSAGES),
        _remote_log(),
        _mirror(OFFSET_SYNCS, "OffsetSync", versioned=False),
        _mirror(CHECKPOINTS, "Checkpoint", versioned=True),
        _mirror(HEARTBEATS, "Heartbeat", versioned=True),
    )
}
