"""The golden vectors of the tiers specification: bytes that Kafka's own serde produced."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from decoded_support import remote_log_records

TOPIC_ID = "00112233445566778899aabbccddeeff"
SEGMENT = f"04666f6f{TOPIC_ID}00000000000102030405060708090a0b0c0d0e0f10"
FIELDS_OF_G1 = (
    "0000000000000000000000000000006400000001ffffffffffffffff000000000000007b040000000000000000"
    "0000000000000000010000000000000014000000000200000000000000500000000400"
)
FIELDS_OF_G2 = (
    "000000000000000096000000000000012b000000070000018bcfe568000000018bcfe5687b0200000003000000"
    "00000000960000100000000000"
)
FIELDS_OF_UPDATES = "00000000020000018bcfe56be8"

UUIDS = {"topic_id": "ABEiM0RVZneImaq7zN3u_w", "segment_id": "AQIDBAUGBwgJCgsMDQ4PEA"}
OF_SEGMENT = UUIDS | {"decode_status": "ok", "topic_name": "foo", "partition_index": 0}
G1 = OF_SEGMENT | {
    "record_type": 0, "start_offset": 0, "end_offset": 100, "broker_id": 1, "max_timestamp_ms": -1,
    "event_at_ms": 123, "size_bytes": 1024, "custom_metadata": bytes([0, 1, 2, 3]),
    "segment_state": "COPY_SEGMENT_STARTED", "txn_index_empty": False,
    "leader_epochs": [
        {"leader_epoch": 0, "start_offset": 0}, {"leader_epoch": 1, "start_offset": 20},
        {"leader_epoch": 2, "start_offset": 80},
    ],
}  # fmt: skip
G2 = OF_SEGMENT | {
    "record_type": 0, "start_offset": 150, "end_offset": 299, "broker_id": 7,
    "max_timestamp_ms": 1_700_000_000_000, "event_at_ms": 1_700_000_000_123,
    "leader_epochs": [{"leader_epoch": 3, "start_offset": 150}], "size_bytes": 1_048_576,
    "custom_metadata": None, "segment_state": "COPY_SEGMENT_STARTED", "txn_index_empty": False,
}  # fmt: skip
G4 = OF_SEGMENT | {
    "record_type": 1, "broker_id": 2, "event_at_ms": 1_700_000_001_000, "custom_metadata": None,
    "segment_state": "DELETE_SEGMENT_STARTED",
}  # fmt: skip
G5 = {
    "record_type": 2, "decode_status": "ok", "topic_name": "foo", "topic_id": UUIDS["topic_id"],
    "partition_index": 0, "broker_id": 0, "event_at_ms": 456, "segment_id": None,
    "partition_delete_state": "DELETE_PARTITION_MARKED",
}  # fmt: skip
NOT_READ = {"topic_id": None, "segment_id": None, "segment_state": None}
VECTORS = {
    "G1": (f"010000{SEGMENT}00{FIELDS_OF_G1}05000102030000", G1),
    "G2": (f"010000{SEGMENT}{FIELDS_OF_G2}", G2),
    "G3": (
        f"010100{SEGMENT}{FIELDS_OF_UPDATES}05000102030100",
        G4 | {"custom_metadata": G1["custom_metadata"], "segment_state": "COPY_SEGMENT_FINISHED"},
    ),
    "G4": (f"010100{SEGMENT}{FIELDS_OF_UPDATES}000200", G4),
    "G5": (f"01020004666f6f{TOPIC_ID}00000000000000000000000000000001c80000", G5),
    # of snapshot files, never of the topic
    "G6": (
        f"010300{SEGMENT[-32:]}{FIELDS_OF_G1}000100",
        NOT_READ | {"decode_status": "unknown_type"},
    ),
    "G7 custom metadata that is empty, not null": (
        f"010100{SEGMENT}{FIELDS_OF_UPDATES}010300",
        G4 | {"custom_metadata": b"", "segment_state": "DELETE_SEGMENT_FINISHED"},
    ),
    "G8": (
        f"010200c901{b't'.hex() * 200}{TOPIC_ID}0000000b00ffffffff00000000000001c80200",
        G5
        | {"topic_name": "t" * 200, "partition_index": 11, "broker_id": -1}
        | {"partition_delete_state": "DELETE_PARTITION_FINISHED"},
    ),
    "G9 a tag of later brokers": (
        f"010000{SEGMENT}{FIELDS_OF_G2[:-2]}01000101",
        G2 | {"txn_index_empty": True},
    ),
    "G10 a version of later brokers": (
        f"010001{SEGMENT}{FIELDS_OF_G2[:-2]}02000101010400000003",
        NOT_READ | {"decode_status": "unknown_version", "value_version": 1},
    ),
    "G11 a version of later brokers": (
        f"010101{SEGMENT}{FIELDS_OF_UPDATES}0001020004000000030108000000000000012b",
        NOT_READ | {"decode_status": "unknown_version", "value_version": 1},
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_is_read_as_kafka_wrote_it(name: str) -> None:
    value, expected = VECTORS[name]
    values = pa.array([bytes.fromhex(value)], pa.binary())
    [row] = remote_log_records(pa.nulls(1, pa.binary()), values).to_pylist()
    found: dict[str, Any] = dict(row)
    assert {column: found[column] for column in expected} == expected
