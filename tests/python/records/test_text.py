"""Malformed UTF-8 reads as Java reads it; the expected texts are Java 17's own."""

from __future__ import annotations

import pytest
from decoded_support import group_records
from records_support import binary
from row_decoder import java_string

from moldau.records.printed_records import java_utf8

BAD = "\ufffd"
CASES = {
    "c328": f"{BAD}(",
    "eda080": BAD,
    "eda080edb080": BAD * 2,
    "eda041": f"{BAD}A",
    "eda0": BAD,
    "e28241": f"{BAD}A",
    "f0908041": f"{BAD}A",
    "f08f8080": BAD * 4,
    "f4908080": BAD * 4,
    "c0af": BAD * 2,
    "ff41": f"{BAD}A",
    "68c3a9": "hé",
}


@pytest.mark.parametrize(("data", "text"), CASES.items())
def test_malformed_text(data: str, text: str) -> None:
    raw = bytes.fromhex(data)
    assert java_utf8(raw) == text
    assert java_string(raw) == text
    key = b"\0\2" + len(raw).to_bytes(2, "big") + raw
    batch = group_records(binary([key, b"\0\2\0\1g"]), binary([None, None]))
    assert batch.column("group_id").to_pylist() == [text, "g"]
