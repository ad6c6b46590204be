"""A checkpoint that cannot be read is passed by, as MirrorMaker's own reader does (1.4, case 61).

What is expected of each form is what `Checkpoint.deserializeRecord` of connect-mirror 4.3.1 said of
it, asked: a SchemaException, which its CheckpointStore passes by, or what it read. Of another
version in the value's header it reads the first; the specification has it passed by and told.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pytest
from mirror_maker import Sync
from mirror_support import (
    CheckpointRecord,
    CommitRecord,
    SyncRecord,
    checkpoint_bytes,
    commit_records,
    decoded_records,
    flow_settings,
    fold_syncs,
    with_flows,
)
from spark_support import Record, fold, fold_records, fresh, parquet_of, rows

from moldau.records import families
from moldau.runs.decide import decide
from moldau.sessions.session import Session

SOURCE, TARGET = "unread-from", "unread"
TOPIC = f"{SOURCE}.t"
GOOD = (250, 201)
SYNCS = [SyncRecord("t", Sync(200, 200))]
VERSIONS = (1, -1, 32_767)
Form = tuple[bytes, bytes]  # key, value
Row = tuple[Any, ...]
Told = dict[str, dict[str, Row]]  # what -> group -> row


def record(group: str, offsets: tuple[int, int] = GOOD, metadata: str = "") -> Form:
    return checkpoint_bytes(CheckpointRecord(group, TOPIC, *offsets, metadata=metadata))


def values() -> dict[str, Form]:
    """Group -> a record of it whose value nothing reads."""
    plain, longer = record("", (250, 290))[1], record("", (250, 290), "metadata")[1]
    found = {f"value of {size:02}": longer[:size] for size in range(len(longer))}
    found |= {f"length {size}": plain[:-2] + struct.pack(">h", size) for size in (-1, -2, 1)}
    found |= {f"version {one}": struct.pack(">h", one) + plain[2:] for one in VERSIONS}
    return {group: (record(group)[0], value) for group, value in found.items()}


def keys() -> dict[str, Form]:
    """Group -> a record that has a part of its key."""
    found = {}
    for size in range(len(record("key of 00")[0])):
        key, value = record(group := f"key of {size:02}", (250, 290))
        found[group] = key[:size], value
    key, value = record("no group", (250, 290))
    return found | {"no group": (b"\xff\xff" + key[2:], value)}


def readable() -> dict[str, tuple[Form, Row]]:
    """Group -> a record of it, and what is read of that."""
    offsets, said = (250, 230), struct.pack(">hqq", 0, 250, 230)
    key, value = record("bad?name", offsets)
    return {
        "more value": ((record("more value")[0], value + b"abc"), (*offsets, "")),
        "more key": ((record("more key")[0] + b"x", value), (*offsets, "")),
        "bad text": (
            (record("bad text")[0], said + struct.pack(">h", 4) + b"a\xff\xfeb"),
            (*offsets, "a\ufffd\ufffdb"),
        ),
        "bad\ufffdname": ((key.replace(b"?", b"\xff"), value), (*offsets, "")),
        "negative": (record("negative", (-5, -7)), (-5, -7, "")),
        "negative target": (record("negative target", (250, -1)), (250, -1, "")),
    }


def loads() -> list[list[Form]]:
    """Good records, those of other forms, and some good again."""
    behind = values() | keys() | {group: form for group, (form, _) in readable().items()}
    again = named("again")
    return [
        [*map(record, [*behind, *again]), *again.values()],
        [*behind.values(), *named("alone").values()],
        [record(group, (240, 150)) for group in again],
    ]


def commits() -> list[Record]:
    """Of every group that the loads are about."""
    groups = values() | keys() | readable() | named("alone") | named("again")
    return commit_records([CommitRecord(group, "t", 250, 900) for group in groups])


def flows(target: str) -> dict[str, str]:
    return {target: flow_settings(SOURCE, target, "full_history")}


def forms_table(target: str, forms: Iterable[Form], first: int) -> pa.Table:
    """Their records in the checkpoints topic, the first of them at this offset."""
    numbered = [(at, 1_000 + at, *form) for at, form in enumerate(forms, first)]
    return decoded_records(families.CHECKPOINTS, target, f"{SOURCE}.checkpoints.internal", numbered)


def found_of(session: Session, target: str) -> Told:
    """What stands."""
    return {
        "guards": keyed(
            session,
            "select group_id, upstream_offset, downstream_offset, metadata, log_offset "
            f"from state.checkpoints where flow = '{target}' and emitted_by = 'mm2'",
        ),
        "translations": keyed(
            session,
            "select group_id, reason_code, translated_offset, observed_upstream_offset, "
            f"observed_downstream_offset from decisions.offset_translations "
            f"where flow = '{target}'",
        ),
        "statuses": keyed(
            session,
            "select decode_status, count(*) from decoded.checkpoints "
            f"where cluster_id = '{target}' group by 1",
        ),
    }


def named(name: str) -> dict[str, Form]:
    """The unreadable values, of groups of which other things were there before."""
    return {
        f"{name} {group}": (record(f"{name} {group}")[0], value)
        for group, (_, value) in values().items()
    }


def keyed(session: Session, statement: str) -> dict[str, Row]:
    return {name: tuple(rest) for name, *rest in rows(session, statement)}


@pytest.fixture(scope="module")
def told(session: Session) -> Iterator[Told]:
    configured = with_flows(session, flows(TARGET))
    fold_syncs(configured, {(SOURCE, TARGET): SYNCS})
    fold_records(configured, {SOURCE: commits()})
    for load, forms in enumerate(loads()):
        table = forms_table(TARGET, forms, 1_000 * load)
        relation = parquet_of(session, table)
        fold(fresh(configured), [TARGET], f"select * from {relation}", families.CHECKPOINTS)
    decide(fresh(configured), "translate", [TARGET], 5_000, is_dry_run=False)
    yield found_of(session, TARGET)


def test_the_checkpoint_before_an_unreadable_one_stays(told: Told) -> None:
    for at, group in enumerate(values() | keys()):
        assert told["guards"][group] == (*GOOD, "", at), group
        assert told["translations"][group] == ("SKIP_REPEATED", 201, *GOOD), group


def test_an_unreadable_one_alone_is_none(told: Told) -> None:
    for group in named("alone"):
        assert told["translations"][group] == ("EMIT_FIRST", 201, None, None), group


def test_a_good_one_behind_unreadable_ones_is_the_last(told: Told) -> None:
    for group in named("again"):
        assert told["translations"][group] == ("EMIT_ADVANCED", 201, 240, 150), group


def test_what_kafka_reads_is_read_as_kafka_reads_it(told: Told) -> None:
    for group, (_, (upstream, downstream, metadata)) in readable().items():
        if downstream < 0:
            assert told["translations"][group] == ("EMIT_ADVANCED", 201, upstream, downstream)
        else:
            assert told["guards"][group][:3] == (upstream, downstream, metadata), group
            assert told["translations"][group][0] == "SKIP_DOWNSTREAM_REWIND", group


def test_records_that_are_passed_by_stay_counted(told: Told) -> None:
    """Of each value there is one behind a good one, one alone, and one among good ones."""
    assert told["statuses"]["bad_key"] == (len(keys()),)
    assert told["statuses"]["unknown_version"] == (3 * len(VERSIONS),)
    assert told["statuses"]["bad_value"] == (3 * (len(values()) - len(VERSIONS)),)
