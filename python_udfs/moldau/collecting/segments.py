"""Segments of a log on a broker's disk, from the headers of their batches."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np

from moldau.loading.segments.batches import HEADER, NEWEST, OVERHEAD

_SEGMENT = re.compile(r"(\d{20})\.log")


def segments_in(folder: Path) -> list[dict[str, Any]]:
    """The segments of a partition's folder, by base offset; the last one is active.

    Of one that the broker deletes meanwhile nothing is told.
    """
    names = sorted(name for name in os.listdir(folder) if _SEGMENT.fullmatch(name))
    found = []
    for name in names:
        try:
            told = _segment(folder / name)
        except FileNotFoundError:
            continue
        found.append({"base_offset": int(name[:20]), **told, "is_active": name == names[-1]})
    return found


def _segment(file: Path) -> dict[str, Any]:
    """`size_bytes` up to the end of the last whole batch, `max_timestamp_ms` -1 = no batch has one.

    `record_count` counts control records, too; null where batches are older than Kafka 0.11.
    """
    latest_ms, records, at = -1, 0, 0
    is_counted = True
    with file.open("rb", buffering=0) as log:
        size = os.fstat(log.fileno()).st_size
        while at + HEADER.itemsize <= size:
            # the bodies, which are most of the bytes, are not read
            content = os.pread(log.fileno(), HEADER.itemsize, at)
            if len(content) < HEADER.itemsize:
                break  # cut off meanwhile
            header = np.frombuffer(content, HEADER)[0]
            end = at + OVERHEAD + int(header["length"])
            if end <= at + OVERHEAD or end > size:
                break  # a file that was made larger beforehand, or a batch that is being written
            if header["magic"] == NEWEST:
                latest_ms = max(latest_ms, int(header["max_ms"]))
                records += int(header["count"])
            else:
                is_counted = False
            at = end
    if not is_counted:
        latest_ms = _latest_in_index(file.with_suffix(".timeindex"))
    return {
        "size_bytes": at,
        "max_timestamp_ms": latest_ms,
        "record_count": records if is_counted else None,
    }


def _latest_in_index(file: Path) -> int:
    """Of pairs of a timestamp and a relative offset, with zeros behind them; -1 = there is none."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return -1
    whole = len(content) // 12 * 12
    return max((entry[0] for entry in struct.iter_unpack(">qi", content[:whole])), default=-1) or -1
