"""Files that people have and that hold no records: what they are is said, and what to do."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from moldau.cli import run
from moldau.errors import MoldauError
from moldau.loading.inputs import Place
from moldau.loading.shapes import RECORDS
from moldau.loading.sources import sources
from moldau.records.printed_json import remote_log_value
from moldau.settings.limits import Limits

KCAT_JSON = (
    '{"topic":"__consumer_offsets","partition":3,"offset":7,"tstype":"create","ts":1795000000000,'
    '"broker":1,"headers":[],"key":"\\u0000\\u0001\\u0000\\u0001g","payload":"\\u0000\\u0003"}\n'
)
FOREIGN = {
    KCAT_JSON: "is the output of kcat -J",
    KCAT_JSON.replace("broker", "x" * 5_000): "is the output of kcat -J",
    "% Reached end of topic __consumer_offsets [0] at offset 17\n": "is text of kcat",
    "Topic __consumer_offsets [0] at offset 17: key g: value\n": "is text of kcat",
    "[g,orders,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional.empty, metadata=, "
    "commitTimestamp=1795000000000, expireTimestamp=None)\n": "is the text of a formatter before",
    "[g,orders,0]::NULL\n": "is the text of a formatter before Kafka 4.0",
    "offset: 0 position: 0 CreateTime: 5 isvalid: true keysize: 9\n": "kafka-dump-log.sh before",
    "\0\1\0\1g\0\6orders\0\0\0\0\n": "holds bytes that are no text",
}
OLD = (
    "Dumping /data/__consumer_offsets-3/00000000000000000000.log\nLog starting offset: 0\n"
    "baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 "
    "producerEpoch: -1 partitionLeaderEpoch: 0 isTransactional: false isControl: false "
    "deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 5 size: 1 magic: 2 "
    "compresscodec: none crc: 1 isvalid: true\n"
    "| offset: 0 CreateTime: 5 keySize: 9 valueSize: 9 sequence: -1 headerKeys: [] "
)


def read(
    content: str | bytes, folder: Path, name: str = "r.txt", place: Place | None = None
) -> tuple[list[dict[str, Any]], list[tuple[int, str]], list[str]]:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    rows: list[dict[str, Any]] = []
    refused: list[tuple[int, str]] = []
    notes: list[str] = []
    for _, chunks in sources([file], RECORDS, Limits(), notes.append, place):
        for table, refusals in chunks:
            refused += [(refusal.line, refusal.reason) for refusal in refusals]
            rows += table.drop_columns(["line"]).to_pylist()
    return rows, refused, notes


@pytest.mark.parametrize("content", FOREIGN, ids=FOREIGN.values())
@pytest.mark.parametrize("name", ["r.jsonl", "r.txt", "r.json"])
def test_what_it_is_and_what_to_do_is_said(content: str, name: str, tmp_path: Path) -> None:
    with pytest.raises(MoldauError) as error:
        read(content, tmp_path, name)
    assert FOREIGN[content] in str(error.value)
    assert "moldau dump --bootstrap-servers HOST:PORT --topic TOPIC --to FILE" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (gzip.compress(KCAT_JSON.encode()), "is gzip: call it"),
        (b"\x28\xb5\x2f\xfd\0\0", "is zstd: call it"),
        (b"PAR1\x15\4\x15", "is Parquet: call it"),
        (b"PK\3\4\n\0", "is a zip archive: unzip it"),
        (b"BZh91AY", "is bzip2"),
        (b"\xfd7zXZ\0\0", "is xz"),
        (b'{\n  "topic": "__consumer_offsets",\n  "partition": 0\n}\n', "jq -c . "),
    ],
)
def test_a_name_that_does_not_say_what_is_in_it(content: bytes, told: str, tmp_path: Path) -> None:
    for name in ("r.jsonl", "r.json"):
        with pytest.raises(MoldauError, match=re.escape(told)):
            read(content, tmp_path, name)


def test_a_first_line_that_is_torn_is_refused_alone(tmp_path: Path) -> None:
    line = '{"topic":"t","partition":0,"offset":1,"timestamp_ms":1,"key_base64":null}\n'
    rows, refused, _ = read("{\n" + line, tmp_path, "r.jsonl")
    assert len(rows) + len(refused) == 2 and refused[0][0] == 1


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32-le"])
def test_another_encoding_comes_with_the_command_that_converts_it(
    encoding: str, tmp_path: Path
) -> None:
    row = {"topic": "t", "partition": 0, "offset": 0, "timestamp_ms": 1}
    row |= {"key_base64": None, "value_base64": None}
    told = r"; moldau reads UTF-8.*: iconv -f UTF-(16|32)[LB]E -t UTF-8 .* > NEW\."
    for name in ("r.jsonl", "r.json", "r.ndjson"):
        with pytest.raises(MoldauError, match=told + name[2:]):
            read(json.dumps(row).encode(encoding), tmp_path, name)
    with pytest.raises(MoldauError, match=told + "txt"):  # as PowerShell redirects
        read(OLD.encode(encoding), tmp_path)


def test_objects_of_other_kinds_may_look_like_those_of_kcat(tmp_path: Path) -> None:
    row = {"topic": "t", "partition": 0, "offset": 0, "ts": 5, "timestamp_ms": 1}
    row |= {"key_base64": None, "value_base64": None}
    rows, refused, _ = read(json.dumps(row, separators=(",", ":")), tmp_path, "r.jsonl")
    assert (len(rows), refused) == (1, [])


@pytest.mark.parametrize(
    "rest", ["key: offset_commit::group=g,partition=t-0 payload: offset=5", "key: g payload: v", ""]
)
def test_a_dump_of_a_log_that_lacks_what_is_needed(rest: str, tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match=r"nothing of .*r\.txt is taken: it was printed"):
        read(OLD + rest + "\n", tmp_path)


def test_a_bad_line_of_a_dump_is_refused_alone(tmp_path: Path) -> None:
    key = '{"type":"1","data":{"group":"g","topic":"t","partition":0}}'
    value = '{"version":"3","data":{"offset":5,"leaderEpoch":-1,"metadata":"","commitTimestamp":7}}'
    bad = {
        "type": key.replace('"1"', '"99"'),
        "field": key.replace("group", "gruppe"),
        "number": key.replace(":0}", ':"0"}'),
    }
    lines = [
        f"key: {key} payload: {value}",
        *(f"key: {each} payload: {value}" for each in bad.values()),
    ]
    lines += [f"key: {key} payload: {value.replace('3', '99', 1)}", f"key: {key} payload: <DELETE>"]
    head, record = OLD.rsplit("| ", 1)
    text = head + "".join(
        f"| {record.replace('t: 0', f't: {n}')}{it}\n" for n, it in enumerate(lines)
    )
    rows, refused, notes = read("\ufeff" + text, tmp_path)
    assert [row["log_offset"] for row in rows] == [0, 5]
    assert {(row["topic_name"], row["partition_index"]) for row in rows} == {
        ("__consumer_offsets", 3)
    }
    assert [reason for _, reason in refused] == [
        "type 99 is none that moldau knows",
        "moldau knows no field gruppe of it",
        "partition is of another type",
        "version 99 of a OffsetCommit is none that moldau knows",
    ]
    assert [line for line, _ in refused] == [5, 6, 7, 8]
    assert "records of" in notes[0], "the sizes that were made up are not those"


def test_records_of_a_formatter_that_are_broken(tmp_path: Path) -> None:
    one = '{"key":{"type":1,"data":{"group":"g","topic":"t","partition":0}},"value":null}'
    bad = one.replace('"type":1', '"type":77')
    rows, refused, _ = read(f"{one}{bad} {one}\n{one[:-9]}", tmp_path)
    assert [row["log_offset"] for row in rows] == [0, 2]
    assert refused[0] == (2, "type 77 is none that moldau knows")
    assert refused[1][0] == 4
    assert refused[1][1].endswith("nothing from here on is read")
    rows, refused, _ = read(f"{one}{one}Processed a total of 2 messages\n", tmp_path)
    assert (len(rows), refused) == (2, [])
    rows, _, _ = read(one, tmp_path, place=Place("__consumer_offsets", 9))
    assert rows[0]["partition_index"] == 9


SEGMENT = (
    "RemoteLogSegmentMetadata{remoteLogSegmentId=RemoteLogSegmentId{topicIdPartition="
    "kfVZrPefQkC1iJzahUN4EA:tier-b-0, id=gvqJvMbERCelqdwroQHH6Q}, startOffset=0, endOffset=200, "
    "brokerId=1, maxTimestampMs=5, eventTimestampMs=6, segmentLeaderEpochs={0=0, 3=100}, "
    "segmentSizeInBytes=10, customMetadata=Optional.empty, state=COPY_SEGMENT_STARTED, "
    "txnIdxEmpty=true}"
)
DELETION = (
    "RemotePartitionDeleteMetadata{topicPartition=kfVZrPefQkC1iJzahUN4EA:tier-b-0, "
    "state=DELETE_PARTITION_MARKED, eventTimestampMs=6, brokerId=1}"
)


def test_lines_of_the_formatter_of_remote_log_metadata(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        f"partition: 3, offset: 7, value: {SEGMENT}\npartition: 3, offset: 9, value: {DELETION}\n"
    )
    text += "partition: 3, offset: 10, value: RemoteNothing{}\nProcessed a total of 3 messages\n"
    rows, [(line, reason)], _ = read(text, tmp_path)
    assert [(row["partition_index"], row["log_offset"]) for row in rows] == [(3, 7), (3, 9)]
    assert {row["topic_name"] for row in rows} == {"__remote_log_metadata"}
    assert (line, reason) == (3, "it is no metadata of the remote log as Kafka prints it")
    assert run(["decode", str(tmp_path / "r.txt")]) == 2
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["decode_status"] == second["decode_status"] == "ok"
    assert first["value"]["segmentLeaderEpochs"][1] == {"leaderEpoch": 3, "offset": 100}
    assert first["value"]["remoteLogSegmentId"]["topicIdPartition"]["name"] == "tier-b"
    assert second["record_name"] == "RemotePartitionDeleteMetadata"


@pytest.mark.parametrize("bad", ["=x", "state=NO", "segmentLeaderEpochs={0}"])
def test_remote_log_metadata_that_is_malformed(bad: str) -> None:
    name = bad.split("=")[0] or "startOffset"
    start = SEGMENT.index(f"{name}=")
    end = SEGMENT.index(", ", start)
    text = SEGMENT[:start] + (bad if "=" in bad[1:] else name + bad) + SEGMENT[end:]
    with pytest.raises(ValueError, match="missing or malformed"):
        remote_log_value(text)
