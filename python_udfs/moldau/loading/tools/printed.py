"""Printed records: whose they are, and what cannot be taken."""

from __future__ import annotations

from typing import Any

from moldau.records.families import (
    CONSUMER_OFFSETS,
    REMOTE_LOG_METADATA,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    family_of,
)

TOPICS = {
    family: f"__{family}"
    for family in (CONSUMER_OFFSETS, REMOTE_LOG_METADATA, SHARE_GROUP_STATE, TRANSACTION_STATE)
}
DELETE = "<DELETE>"  # a tombstone
UNDECODED = (
    "it was printed without a decoder: run kafka-dump-log.sh with --offsets-decoder, "
    "--remote-log-metadata-decoder, --transaction-log-decoder or --share-group-state-decoder, or "
    "load the segment itself"
)
OLD = (
    "it was printed by a Kafka before 4.0, which leaves fields of records out: load the segment "
    "itself"
)


class Unsuited(Exception):
    """Why nothing of the output can be taken."""


def family_of_printed(topic: str | None, key: Any, payload: str) -> str:
    """By the topic if that is one of Kafka's own, else by what is said."""
    if topic and (family := family_of(topic)) in TOPICS:
        return str(family)
    if key is None:
        if payload.startswith("Remote"):
            return REMOTE_LOG_METADATA
        raise Unsuited(UNDECODED)
    data = key.get("data") if isinstance(key, dict) else None
    names = set(data) if isinstance(data, dict) else set()
    if "transactionalId" in names:
        return TRANSACTION_STATE
    return SHARE_GROUP_STATE if "topicId" in names else CONSUMER_OFFSETS


def placed(
    topic: str, partition: int, offset: int, key: bytes | None, value: bytes | None
) -> dict[str, Any]:
    return {
        "topic_name": topic,
        "partition_index": partition,
        "log_offset": offset,
        "recorded_at_ms": -1,
        "timestamp_type": None,
        "record_key": key,
        "record_value": value,
        "headers": None,
    }
