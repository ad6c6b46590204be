"""Cases 91 and 92 of the tiers specification: what is no record is named, nothing is skipped."""

from __future__ import annotations

import pyarrow as pa
import pytest
from decoded_support import remote_log_records

# an update of a segment, DELETE_SEGMENT_STARTED (golden vector G4), up to its state
G4 = (
    "01010004666f6f00112233445566778899aabbccddeeff00000000000102030405060708090a0b0c0d0e0f1000"
    "000000020000018bcfe56be800"
)


def decoded(value: str) -> dict[str, object]:
    values = pa.array([bytes.fromhex(value)], pa.binary())
    [row] = remote_log_records(pa.nulls(1, pa.binary()), values).to_pylist()
    return dict(row)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        pytest.param("00", "bad_value", id="91 frame 0"),
        pytest.param("020000", "bad_value", id="91 frame 2"),
        pytest.param("01", "bad_value", id="91 truncated"),
        pytest.param("010400", "unknown_type", id="91 unknown key"),
        pytest.param("010001", "unknown_version", id="91 no body"),
        pytest.param(f"{G4}020000", "bad_value", id="91 a byte too many"),
    ],
)
def test_what_is_no_record_is_named(value: str, status: str) -> None:
    row = decoded(value)
    assert row["decode_status"] == status
    assert row["segment_state"] is None


def test_a_state_that_is_none_keeps_its_number() -> None:
    """The fold then rejects it: no transition leads there."""
    assert decoded(f"{G4}0900")["segment_state"] == "UNKNOWN_9"


def test_a_tag_that_nobody_knows_is_ignored() -> None:
    row = decoded(f"{G4}02010502aabb")
    assert (row["decode_status"], row["segment_state"]) == ("ok", "DELETE_SEGMENT_STARTED")
