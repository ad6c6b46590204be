"""Segments byte by byte: formats that no broker writes any more, and files that are damaged.

Vectors are made by hand from Kafka's description of the formats; their packed forms by the
libraries that moldau does not read with, or as Kafka's own code frames them.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import google_crc32c
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.cli import run
from moldau.errors import MoldauError
from moldau.loading.inputs import Place, inputs
from moldau.loading.segments import batches
from moldau.loading.segments import records as records_of_batches
from moldau.loading.segments.codecs import _xxh32, unpacked
from moldau.loading.shapes import RECORDS, shapes
from moldau.loading.sources import sources
from moldau.settings.limits import Limits

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
T = 1_795_000_000_000
Record = tuple[int, bytes | None, bytes | None]  # offset, key, value


def counted(content: bytes | None) -> bytes:
    return struct.pack(">i", -1) if content is None else struct.pack(">i", len(content)) + content


def message(
    magic: int,
    offset: int,
    key: bytes | None,
    value: bytes | None,
    attributes: int = 0,
    at_ms: int = T,
) -> bytes:
    """Of magic 0 or 1: offset, size, CRC, magic, attributes, of magic 1 a timestamp, key, value."""
    body = struct.pack(">bb", magic, attributes)
    body += struct.pack(">q", at_ms) if magic else b""
    body += counted(key) + counted(value)
    body = struct.pack(">I", zlib.crc32(body)) + body
    return struct.pack(">qi", offset, len(body)) + body


def varint(number: int) -> bytes:
    number = (number << 1) ^ (number >> 63)
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def sized(content: bytes | None) -> bytes:
    return varint(-1) if content is None else varint(len(content)) + content


def record(delta: int, key: bytes | None, value: bytes | None, ms_delta: int = 0) -> bytes:
    body = b"\0" + varint(ms_delta) + varint(delta) + sized(key) + sized(value) + varint(0)
    return varint(len(body)) + body


def batch(
    base: int,
    body: bytes,
    count: int,
    attributes: int = 0,
    producer: int = -1,
    base_ms: int = T,
    max_ms: int = T,
) -> bytes:
    """Of magic 2, with the checksum over all from the attributes on."""
    rest = struct.pack(
        ">hiqqqhii", attributes, count - 1, base_ms, max_ms, producer, 0, -1, count
    ) + body  # fmt: skip
    head = struct.pack(">ibI", 0, 2, google_crc32c.value(rest))
    return struct.pack(">qi", base, len(head) + len(rest)) + head + rest


def plain(base: int, *pairs: tuple[bytes | None, bytes | None], **more: Any) -> bytes:
    body = b"".join(record(number, *pair) for number, pair in enumerate(pairs))
    return batch(base, body, len(pairs), **more)


def marker(base: int, producer: int, kind: int) -> bytes:
    key, value = struct.pack(">hh", 0, kind), struct.pack(">hi", 0, 5)
    return batch(base, record(0, key, value), 1, 0x30, producer)


def transactional(base: int, producer: int, value: bytes) -> bytes:
    return plain(base, (b"k", value), attributes=0x10, producer=producer)


def xerial(content: bytes) -> bytes:
    """Snappy as snappy-java streams it: a header, then blocks behind their lengths."""
    out = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
    for at in range(0, len(content), 100):
        block = pa.Codec("snappy").compress(content[at : at + 100], asbytes=True)
        out += struct.pack(">i", len(block)) + block
    return out


def lz4_frame(content: bytes, is_old: bool) -> bytes:
    """One block that is not packed; of old the header's checksum is over the magic, too."""
    magic, descriptor = struct.pack("<I", 0x184D2204), b"\x60\x40"
    checksum = _xxh32(magic + descriptor if is_old else descriptor) >> 8 & 0xFF
    block = struct.pack("<I", len(content) | 0x80000000) + content
    return magic + descriptor + bytes([checksum]) + block + bytes(4)


def packed(codec: int, content: bytes, is_old: bool = False) -> bytes:
    if codec == LZ4:
        return lz4_frame(content, is_old)
    if codec == ZSTD:
        return bytes(pa.Codec("zstd").compress(content, asbytes=True))
    return gzip.compress(content) if codec == GZIP else xerial(content)


def write(folder: Path, content: bytes, name: str = "0" * 20 + ".log") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_bytes(content)
    return file


def read(
    *words: Path, place: Place | None = None, limits: Limits | None = None
) -> tuple[list[dict[str, Any]], list[tuple[int, str]], list[str]]:
    rows: list[dict[str, Any]] = []
    refused: list[tuple[int, str]] = []
    notes: list[str] = []
    found = inputs(words, notes.append)
    for _, chunks in sources(found, RECORDS, limits or Limits(), notes.append, place):
        for table, refusals in chunks:
            refused += [(refusal.line, refusal.reason) for refusal in refusals]
            rows += table.to_pylist()
    return rows, refused, notes


def kept(rows: list[dict[str, Any]]) -> list[Record]:
    return [(row["log_offset"], row["record_key"], row["record_value"]) for row in rows]


PAIRS: list[Record] = [(10, b"a", b"1" * 300), (11, None, b""), (15, b"", None)]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [0, GZIP, SNAPPY, LZ4])
def test_messages_of_brokers_before_0_11(magic: int, codec: int, tmp_path: Path) -> None:
    """Compressed ones of magic 1 have offsets that count to that of the message around them."""
    inner = b"".join(
        message(magic, offset - (10 if codec and magic else 0), key, value, at_ms=T + offset)
        for offset, key, value in PAIRS
    )
    around = message(magic, 15, None, packed(codec, inner, is_old=True), codec) if codec else b""
    content = around or inner
    rows, refused, notes = read(write(tmp_path / "orders-3", content))
    assert (refused, notes) == ([], [])
    assert kept(rows) == PAIRS
    times = [(row["recorded_at_ms"], row["timestamp_type"]) for row in rows]
    if magic:
        assert times == [(T + offset, "CreateTime") for offset, *_ in PAIRS]
    else:
        assert times == [(-1, None)] * 3
    assert {(row["topic_name"], row["partition_index"]) for row in rows} == {("orders", 3)}


def test_the_broker_time_around_old_messages_is_theirs(tmp_path: Path) -> None:
    inner = message(1, 0, b"a", b"1") + message(1, 1, b"b", b"2")
    content = message(1, 7, None, packed(GZIP, inner), GZIP | 0x08, at_ms=T + 9)
    rows, _, _ = read(write(tmp_path / "orders-0", content))
    assert kept(rows) == [(6, b"a", b"1"), (7, b"b", b"2")]
    assert {(row["recorded_at_ms"], row["timestamp_type"]) for row in rows} == {
        (T + 9, "LogAppendTime")
    }


def test_formats_may_change_within_a_file(tmp_path: Path) -> None:
    content = message(0, 0, b"a", b"0") + message(1, 1, b"a", b"1") + plain(2, (b"a", b"2"))
    content += message(1, 3, b"a", b"3")
    rows, refused, _ = read(write(tmp_path / "orders-0", content))
    assert refused == []
    assert [row["record_value"] for row in rows] == [b"0", b"1", b"2", b"3"]
    assert [row["line"] for row in rows] == [1, 2, 3, 4]


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_packed_batches(codec: int, tmp_path: Path) -> None:
    pairs = [(f"k{n}".encode(), b"v" * n) for n in range(300)]
    body = b"".join(record(number, *pair) for number, pair in enumerate(pairs))
    rows, refused, _ = read(write(tmp_path / "orders-0", batch(5, packed(codec, body), 300, codec)))
    assert refused == []
    assert kept(rows) == [(5 + n, *pair) for n, pair in enumerate(pairs)]
    # a stream may hold several, one behind the other
    assert unpacked(codec, packed(codec, b"ab") + packed(codec, b"c"), lambda _: None) == b"abc"


def test_raw_snappy_has_no_frame() -> None:
    raw = pa.Codec("snappy").compress(b"x" * 1_000, asbytes=True)
    assert unpacked(SNAPPY, raw, lambda _: None) == b"x" * 1_000


def test_checksums_of_lz4_are_those_of_its_specification() -> None:
    assert _xxh32(b"") == 0x02CC5D05
    assert _xxh32(b"a") == 0x550D7456
    assert _xxh32(b"abc") == 0x32D153FF


@pytest.mark.parametrize("magic", [1, 2])
def test_a_batch_with_a_wrong_checksum_is_refused_and_the_others_load(
    magic: int, tmp_path: Path
) -> None:
    one = plain(1, (b"k", b"bad!")) if magic == 2 else message(1, 1, b"k", b"bad!")
    damaged = one.replace(b"bad!", b"BAD!")
    first = plain(0, (b"k", b"0"))
    content = first + damaged + plain(2, (b"k", b"2"))
    rows, [(line, reason)], _ = read(write(tmp_path / "orders-0", content))
    assert [row["record_value"] for row in rows] == [b"0", b"2"]
    told = f"the batch at byte {len(first)}, from offset 1 on: its checksum is not that of its"
    assert reason.startswith(told)
    assert line >= 1


@pytest.mark.parametrize("cut", [9, 20, 60, 70])
def test_a_torn_tail_is_named(cut: int, tmp_path: Path) -> None:
    first, second = plain(0, (b"k", b"0")), plain(1, (b"k", b"1" * 50))
    file = write(tmp_path / "orders-0", first + second[:cut])
    rows, [(line, reason)], _ = read(file)
    assert [row["record_value"] for row in rows] == [b"0"]
    assert line == 2
    assert reason == (
        f"the {cut} bytes from byte {len(first)} on are a batch that is cut off: a torn tail"
    )


def test_a_file_that_was_made_larger_beforehand_has_no_torn_tail(tmp_path: Path) -> None:
    rows, refused, _ = read(write(tmp_path / "orders-0", plain(0, (b"k", b"0")) + bytes(9_000)))
    assert (len(rows), refused) == (1, [])
    assert read(write(tmp_path / "empty-0", b"")) == ([], [], [])
    assert read(write(tmp_path / "zeros-0", bytes(100))) == ([], [], [])


def test_what_is_no_batch_ends_the_file(tmp_path: Path) -> None:
    first = plain(0, (b"k", b"0"))
    content = first + struct.pack(">qi", 1, -5) + b"?" * 100
    rows, [(_, reason)], _ = read(write(tmp_path / "orders-0", content))
    assert len(rows) == 1
    assert (
        reason == f"the 112 bytes from byte {len(first)} on are no batch (its length would be -5)"
    )


MALFORMED = {
    "too few records": batch(1, record(0, b"k", b"v"), 2),
    "too many records": batch(1, record(0, b"k", b"v") * 2, 1),
    "a count out of all proportion": batch(1, record(0, b"k", b"v"), 2**31 - 1),
    "a negative count": batch(1, b"", -3),
    "a record without an end": batch(1, varint(500) + record(0, b"k", b"v"), 1),
    "a negative length": batch(1, varint(-5) + record(0, b"k", b"v"), 1),
    "a key beyond the record": batch(1, varint(9) + b"\0\0\0" + varint(99) + b"\0" * 5, 1),
    "a key of less than nothing": batch(1, varint(7) + b"\0\0\0" + varint(-2) + b"\1\0\0", 1),
    "more headers than there are": batch(1, varint(7) + b"\0\0\0\1\1" + varint(3) + b"\0", 1),
    "a number without an end": batch(1, varint(14) + b"\0" + b"\xff" * 13, 1),
    "an offset before the first": batch(-1, record(0, b"k", b"v"), 1),
    "a time before the first": batch(1, record(0, b"k", b"v", -2 * T), 1),
    "gzip that is none": batch(1, b"none at all", 1, GZIP),
    "gzip that ends too early": batch(1, gzip.compress(b"v" * 100)[:-20], 1, GZIP),
    "snappy that is none": batch(1, b"\xff" * 30, 1, SNAPPY),
    "snappy that ends too early": batch(1, xerial(b"v" * 100)[:-5], 1, SNAPPY),
    "lz4 that is none": batch(1, b"none at all", 1, LZ4),
    "zstd that is none": batch(1, b"none at all", 1, ZSTD),
    "a codec that nobody knows": batch(1, b"", 1, 7),
    "a magic that nobody knows": message(1, 1, b"k", b"v")[:16] + b"\7" + bytes(30),
    "an old message that is cut off": message(1, 1, b"k", b"v" * 9, GZIP),
    "an old one within an old one": message(
        1, 1, None, gzip.compress(message(1, 0, None, gzip.compress(b""), GZIP)), GZIP
    ),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_what_is_malformed_is_refused_and_the_others_load(what: str, tmp_path: Path) -> None:
    """Whatever a batch says of itself, with a checksum that is right."""
    content = plain(0, (b"k", b"0")) + MALFORMED[what]
    if what == "a magic that nobody knows":
        content = content[:-30] + bytes(struct.unpack_from(">i", MALFORMED[what], 8)[0] - 5)
    content += plain(9, (b"k", b"9"))
    rows, refused, _ = read(write(tmp_path / "orders-0", content))
    assert [row["record_value"] for row in rows] == [b"0", b"9"]
    [(_, reason)] = refused
    assert reason.startswith("the batch at byte "), reason


def test_many_batches_side_by_side_are_read_as_one_by_one(tmp_path: Path) -> None:
    """Some of them malformed; some with many records."""
    content, wanted = b"", []
    for number in range(700):
        base = 100 * number
        pairs = [(b"k" * (n % 3), f"{number} {n}".encode() * n) for n in range(1 + number % 40)]
        if number % 50 == 7:
            content += batch(base, record(0, b"k", b"v"), 2 + number % 3)
            continue
        content += plain(base, *pairs)
        wanted += [(base + n, *pair) for n, pair in enumerate(pairs)]
    rows, refused, _ = read(write(tmp_path / "orders-0", content))
    assert kept(rows) == wanted
    assert len(refused) == 14


def test_what_an_aborted_transaction_wrote_is_not_there(tmp_path: Path) -> None:
    """Over two segments, with producers that take turns, and one whose beginning is lost."""
    folder = tmp_path / "orders-0"
    first = [
        marker(0, 9, 0),
        transactional(1, 7, b"aborted"),
        transactional(2, 8, b"committed"),
        plain(3, (b"k", b"of nobody")),
    ]
    second = [
        transactional(4, 7, b"aborted too"),
        marker(5, 8, 1),
        marker(6, 7, 0),
        transactional(7, 7, b"committed later"),
        marker(8, 7, 1),
        # what the cleaner leaves of a producer: no record, no transaction
        batch(9, b"", 0, 0x10, 5),
        plain(10, (b"k", b"last")),
    ]
    write(folder, b"".join(second), f"{4:020}.log")
    write(folder, b"".join(first), f"{0:020}.log")
    (folder / f"{0:020}.index").write_bytes(b"")
    (folder / f"{0:020}.log.deleted").write_bytes(b"?")
    rows, refused, notes = read(folder)
    assert (refused, notes) == ([], [])
    values = [row["record_value"] for row in rows]
    assert values == [b"committed", b"of nobody", b"committed later", b"last"]


@settings(deadline=None, max_examples=60)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from("dddnca"), st.integers(1, 3)), min_size=1, max_size=40
    ),
    cuts=st.sets(st.integers(1, 39), max_size=3),
)
def test_transactions_are_as_a_naive_reader_has_them(
    steps: list[tuple[str, int]], cuts: set[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Data, data of nobody, commits and aborts of three producers, in up to four segments."""
    log: list[bytes] = []
    fates: dict[int, bool | None] = {}  # offset -> whether it is committed; None = open
    for offset, (what, producer) in enumerate(steps):
        if what == "d":
            log.append(transactional(offset, producer, b"%d" % offset))
            fates[offset] = None
        elif what == "n":
            log.append(plain(offset, (b"k", b"%d" % offset)))
            fates[offset] = True
        else:
            log.append(marker(offset, producer, 1 if what == "c" else 0))
            for before, (earlier, whose) in enumerate(steps[:offset]):
                if earlier == "d" and whose == producer and fates[before] is None:
                    fates[before] = what == "c"
    stable = min((at for at, fate in fates.items() if fate is None), default=len(steps))
    wanted = [(at, b"k", b"%d" % at) for at, fate in fates.items() if fate and at < stable]
    folder = tmp_path_factory.mktemp("log") / "orders-0"
    bounds = [0, *sorted(cut for cut in cuts if cut < len(log)), len(log)]
    for start, end in pairwise(bounds):
        write(folder, b"".join(log[start:end]), f"{start:020}.log")
    rows, refused, _ = read(folder)
    assert (kept(rows), refused) == (wanted, [])


def test_nothing_behind_an_open_transaction_is_given(tmp_path: Path) -> None:
    content = plain(0, (b"k", b"seen")) + transactional(1, 7, b"open") + plain(2, (b"k", b"behind"))
    rows, refused, [note] = read(write(tmp_path / "orders-0", content))
    assert refused == []
    assert [row["record_value"] for row in rows] == [b"seen"]
    assert note == (
        "orders-0 ends with an open transaction (producer 7 since offset 1): the records from "
        "offset 1 on are not loaded, as a reader of committed records does not see them"
    )


def test_a_single_file_needs_its_place(tmp_path: Path) -> None:
    file = write(tmp_path / "backup", plain(0, (b"k", b"v")), "segment.log")
    with pytest.raises(MoldauError, match="give --topic and --partition"):
        read(file)
    rows, _, _ = read(file, place=Place("__consumer_offsets", 12))
    assert {(row["topic_name"], row["partition_index"]) for row in rows} == {
        ("__consumer_offsets", 12)
    }
    with pytest.raises(MoldauError, match="it holds records, not heartbeats"):
        sources([file], shapes()["heartbeats"], Limits(), print, Place("t", 0))


def test_replicas_are_logs_of_their_own(tmp_path: Path) -> None:
    """Their segments may begin at other offsets; a marker counts once in each."""
    first = [transactional(0, 7, b"a"), marker(1, 7, 1), transactional(2, 7, b"open")]
    for number, cut in ((1, 1), (2, 2)):
        folder = tmp_path / f"broker-{number}" / "orders-0"
        write(folder, b"".join(first[:cut]))
        write(folder, b"".join(first[cut:]), f"{cut:020}.log")
    rows, refused, notes = read(tmp_path / "broker-1" / "orders-0", tmp_path / "broker-2/orders-0")
    assert refused == []
    assert kept(rows) == [(0, b"k", b"a")] * 2
    assert len(notes) == 2
    write(tmp_path / "other" / "orders-1", plain(0, (b"k", b"v")))
    words = (tmp_path / "broker-1" / "orders-0", tmp_path / "other" / "orders-1")
    with pytest.raises(MoldauError, match="--partition is of one partition"):
        read(*words, place=Place(partition=3))
    rows, _, _ = read(*words, place=Place(topic="renamed"))
    assert {(row["topic_name"], row["partition_index"]) for row in rows} == {
        ("renamed", 0), ("renamed", 1),
    }  # fmt: skip


def test_what_a_broker_adds_meanwhile_is_not_read(tmp_path: Path) -> None:
    """Else a transaction that began after the look at transactions would be given."""
    file = write(tmp_path / "orders-0", plain(0, (b"k", b"0")))
    [(_, chunks)] = sources([file], RECORDS, Limits(), print)
    log_of = batches.batches_of

    def and_then_more(*words: Any) -> Iterator[Any]:
        yield from log_of(*words)
        with file.open("ab") as out:
            out.write(transactional(1, 7, b"open"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("moldau.loading.segments.log.batches_of", and_then_more)
        rows = [row for table, _ in chunks for row in table.to_pylist()]
    assert kept(rows) == [(0, b"k", b"0")]


def test_a_compacted_log_without_its_beginning_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "__consumer_offsets-3"
    write(folder, plain(500, (b"k", b"v")), f"{500:020}.log")
    _, _, [note] = read(folder)
    assert note.startswith("__consumer_offsets-3 begins with the segment of offset 500: what its")
    write(tmp_path / "orders-3", plain(500, (b"k", b"v")), f"{500:020}.log")
    assert read(tmp_path / "orders-3")[2] == []


def test_decode_takes_a_segment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, plain(0, (b"\0\x63", b"v")), "0.log")
    assert run(["decode", str(file), "--topic", "__consumer_offsets", "--partition", "1"]) == 0
    out, err = capsys.readouterr()
    assert '"decode_status": "unknown_type"' in out or '"decode_status":"unknown_type"' in out
    assert "1 record of __consumer_offsets unknown_type" in err


def test_a_bomb_refuses_the_file(tmp_path: Path) -> None:
    bomb = batch(0, gzip.compress(bytes(100_000_000)), 1, GZIP)
    with pytest.raises(MoldauError, match="limits: expansion"):
        read(write(tmp_path / "orders-0", bomb))


def test_a_batch_that_is_too_large_is_refused_alone(tmp_path: Path) -> None:
    large = plain(1, (b"k", bytes(9 * 1024 * 1024)))
    content = plain(0, (b"k", b"0")) + large + plain(2, (b"k", b"2"))
    file = write(tmp_path / "orders-0", content)
    rows, [(line, reason)], _ = read(file, limits=Limits(batch_bytes=8 * 1024 * 1024))
    assert [row["record_value"] for row in rows] == [b"0", b"2"]
    assert (line, reason.split(" (")[1]) == (2, "`limits: batch_bytes`)")
    assert len(read(file)[0]) == 3


def test_a_batch_that_is_too_large_when_it_is_unpacked_is_refused_alone(tmp_path: Path) -> None:
    large = record(0, b"k", bytes(9 * 1024 * 1024))
    packed_large = [
        batch(1, packed(ZSTD, large), 1, ZSTD),
        message(1, 1, None, packed(GZIP, message(1, 0, b"k", large)), GZIP),
    ]
    for one in packed_large:
        content = plain(0, (b"k", b"0")) + one + plain(2, (b"k", b"2"))
        file = write(tmp_path / "orders-0", content)
        rows, [(_, reason)], _ = read(file, limits=Limits(batch_bytes=8 * 1024 * 1024))
        assert [row["record_value"] for row in rows] == [b"0", b"2"]
        assert reason.endswith("unpacked (`limits: batch_bytes`)")
        assert len(read(file)[0]) == 3


binary = st.none() | st.binary(max_size=300)


@settings(deadline=None, max_examples=60)
@given(
    batches=st.lists(
        st.tuples(
            st.lists(st.tuples(binary, binary, st.integers(-(2**40), 2**40)), max_size=30),
            st.sampled_from([0, GZIP, SNAPPY, LZ4, ZSTD]),
        ),
        max_size=8,
    ),
    many=st.sampled_from([1, 4, 256]),
)
def test_what_is_written_is_read(
    batches: list[tuple[list[tuple[bytes | None, bytes | None, int]], int]],
    many: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    content, wanted = b"", []
    for number, (rows, codec) in enumerate(batches):
        base = 1_000 * number
        body = b"".join(record(n, key, value, ms) for n, (key, value, ms) in enumerate(rows))
        content += batch(base, packed(codec, body) if codec else body, len(rows), codec)
        wanted += [(base + n, key, value, T + ms) for n, (key, value, ms) in enumerate(rows)]
    file = write(tmp_path_factory.mktemp("log") / "orders-0", content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records_of_batches, "_MANY", many)
        rows_read, refused, _ = read(file)
    assert refused == []
    found = [
        (*record, row["recorded_at_ms"])
        for record, row in zip(kept(rows_read), rows_read, strict=True)
    ]
    assert found == wanted
