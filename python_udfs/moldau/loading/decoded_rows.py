"""Records of a file as decoded JSON objects, in the file's order, a chunk at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.loading.inputs import Place
    from moldau.loading.tally import Tally
    from moldau.sessions.brought import Refusal

_ROWS_AT_ONCE = 8_192


def decode_files(
    files: Sequence[Path],
    refuse: Callable[[Refusal], None],
    tally: Tally,
    unknown_topics: set[str],
    note: Callable[[str], None],
    place: Place | None = None,
) -> Iterator[dict[str, Any]]:
    """One object a record: topic, partition, offset, record_type, ..., key, value.

    `refuse` is told each malformed line, which is left out, and `tally` what was not understood.
    A record of a topic that holds no known kind of record is `unknown_type`, with its bytes as
    base64; its topic joins `unknown_topics`. `note` is told what else a person should know, and
    `place` tells whose records they are where a file does not. MoldauError if one cannot be read.
    """
    from moldau.loading.shapes import RECORDS
    from moldau.loading.sources import sources
    from moldau.records.families import family_of
    from moldau.settings.limits import Limits

    read = sources(files, RECORDS, Limits(), note, place)
    for table, refused in chain.from_iterable(chunks for _, chunks in read):
        for refusal in refused:
            refuse(refusal)
        for start in range(0, table.num_rows, _ROWS_AT_ONCE):
            for rows, values in _decoded(table.slice(start, _ROWS_AT_ONCE)):
                for row, value in zip(rows, values, strict=True):
                    if family_of(row["topic"]) is None:
                        unknown_topics.add(row["topic"])
                    else:
                        tally.count(row["topic"], row["decode_status"], empty=value.as_py() == b"")
                    yield row


def _decoded(table: pa.Table) -> Iterator[tuple[Iterator[dict[str, Any]], pa.ChunkedArray]]:
    """Runs of records of one topic: what they say, and their values."""
    start = 0
    for topic, run in groupby(table["topic_name"].to_pylist()):
        length = sum(1 for _ in run)
        of_topic = table.slice(start, length)
        yield _of_topic(topic, of_topic), of_topic["record_value"]
        start += length


def _of_topic(topic: str, table: pa.Table) -> Iterator[dict[str, Any]]:
    from moldau.records.families import family_of
    from moldau.records.jsonl import to_json_rows

    partition, offset, keys, values = (
        table[name].combine_chunks()
        for name in ("partition_index", "log_offset", "record_key", "record_value")
    )
    if family_of(topic) is not None:
        yield from to_json_rows(topic, partition, offset, keys, values)
        return
    columns = (array.to_pylist() for array in (partition, offset, keys, values))
    for row in zip(*columns, strict=True):
        yield {
            "topic": topic,
            "partition": row[0],
            "offset": row[1],
            "record_type": None,
            "record_name": None,
            "value_version": None,
            "decode_status": "unknown_type",
            "key": row[2],
            "value": row[3],
        }
