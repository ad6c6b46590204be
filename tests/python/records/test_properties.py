"""Random records survive; random bytes never raise and both decoders agree on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from decoded_support import decoded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from records_support import binary, plain_rows
from row_decoder import decode_row
from strategies import KINDS, mutated, records

import moldau.records.walk_long as walk_long
from moldau.declared import topics
from moldau.records.families import FAMILIES

COMMON = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
FEW = settings(COMMON, max_examples=20)
MANY = settings(COMMON, max_examples=120)


def kind_id(kind: tuple[str, int | None, int]) -> str:
    return "-".join(str(part) for part in kind)


@pytest.mark.parametrize("kind", KINDS, ids=kind_id)
@FEW
@given(data=st.data())
def test_records_survive_encoding(kind: tuple[str, int | None, int], data: st.DataObject) -> None:
    family = kind[0]
    batch = data.draw(st.lists(records(*kind), min_size=1, max_size=5))
    rows = plain_rows(family, [r["key_bytes"] for r in batch], [r["value_bytes"] for r in batch])
    for row, record in zip(rows, batch, strict=True):
        assert row["status"] == "ok"
        assert row["key"] == record["key"]
        assert row["value"] == record["value"]
        assert row["unknown_tags"] == {str(t): p.hex() for t, p in record["tags"].items()}
        peer = decode_row(family, record["key_bytes"], record["value_bytes"])
        assert peer.value == record["value"]


@pytest.fixture(params=[4096, 40, -1], ids=["together", "mixed", "one_by_one"], scope="module")
def walk(request: pytest.FixtureRequest) -> Iterator[None]:
    """Long records are walked one by one: try every record both ways."""
    usual, walk_long.LONG = walk_long.LONG, request.param
    yield
    walk_long.LONG = usual


def check_agreement(family: str, keys: list[Any], values: list[Any]) -> None:
    rows = plain_rows(family, keys, values)
    for row, key, value in zip(rows, keys, values, strict=True):
        peer = decode_row(family, key, value)
        expected = {
            "status": peer.status,
            "record_type": peer.record_type,
            "value_version": peer.value_version,
            "key": peer.key,
            "value": peer.value,
            "unknown_tags": peer.unknown_tags if peer.value is not None else {},
        }
        assert row == expected
    if family in topics():
        batch = decoded(family, binary(keys), binary(values))
        batch.validate(full=True)
        assert batch.column("decode_status").to_pylist() == [row["status"] for row in rows]


@pytest.mark.usefixtures("walk")
@pytest.mark.parametrize("family", FAMILIES)
@MANY
@given(data=st.data())
def test_mutated_records_never_raise_and_decoders_agree(family: str, data: st.DataObject) -> None:
    kinds = st.sampled_from([kind for kind in KINDS if kind[0] == family])
    batch = data.draw(st.lists(kinds.flatmap(lambda kind: records(*kind)), max_size=6))
    keys = [data.draw(mutated(record["key_bytes"])) for record in batch]
    values = [data.draw(mutated(record["value_bytes"])) for record in batch]
    check_agreement(family, keys, values)


@pytest.mark.parametrize("family", FAMILIES)
@FEW
@given(pairs=st.lists(st.tuples(st.none() | st.binary(), st.none() | st.binary()), max_size=5))
def test_random_bytes_never_raise_and_decoders_agree(
    family: str, pairs: list[tuple[bytes | None, bytes | None]]
) -> None:
    check_agreement(family, [k for k, _ in pairs], [v for _, v in pairs])


@pytest.mark.parametrize("kind", KINDS, ids=kind_id)
def test_empty_batches(kind: tuple[str, int | None, int]) -> None:
    assert plain_rows(kind[0], [], []) == []
