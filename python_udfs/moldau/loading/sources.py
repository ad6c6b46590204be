"""Each file that is loaded or decoded, with its rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from moldau.errors import MoldauError
from moldau.loading.checked_rows import Chunk
from moldau.loading.formats import SEGMENT, ending
from moldau.loading.inputs import Place
from moldau.loading.read_lines import read_chunks
from moldau.loading.segments.log import Log, in_order, is_segment, partition_of
from moldau.loading.segments.reading import is_segment_content
from moldau.loading.shape import Shape
from moldau.loading.shapes import RECORDS
from moldau.settings.limits import Limits

Source = tuple[str, Iterator[Chunk]]
_Folder = tuple[str, int, Path]  # topic and partition: each replica of it is a log of its own


def sources(
    files: Sequence[Path],
    shape: Shape,
    limits: Limits,
    note: Callable[[str], None],
    place: Place | None = None,
) -> list[Source]:
    """The files by name, each with its rows as `read_chunks` has them.

    Segments of one partition in a folder are one log, by their offsets, where the first stood.
    `note` is told, while they are read, what a person should know. MoldauError if one is a segment
    and nothing tells of which partition, or the rows are no records.
    """
    place = place or Place()
    logs: dict[_Folder, list[Path]] = defaultdict(list)
    found: list[tuple[Path, _Folder | None]] = []
    for file in files:
        folder = (*_partition(file, place, shape), file.parent) if _is_segment(file) else None
        if folder:
            logs[folder].append(file)
        if not folder or len(logs[folder]) == 1:
            found.append((file, folder))
    if place.partition is not None and len({partition_of(folder) for *_, folder in logs}) > 1:
        raise MoldauError("--partition is of one partition, and these are segments of several")
    told: list[Source] = []
    for file, folder in found:
        if folder is None:
            told.append((str(file), read_chunks(file, shape, limits, note, place)))
            continue
        topic, partition, _ = folder
        log = Log(topic, partition, in_order(logs[folder]), limits, note)
        told += [(str(each), _read(partial(log.chunks, each), each)) for each in log.files]
    return told


def _read(chunks: Callable[[], Iterator[Chunk]], file: Path) -> Iterator[Chunk]:
    try:
        yield from chunks()
    except OSError as error:
        raise MoldauError(f"{file} cannot be read: {error.strerror or error}") from error


def _is_segment(file: Path) -> bool:
    if ending(file) != (SEGMENT, "") or not file.is_file():
        return False
    return is_segment(file) or is_segment_content(file)


def _partition(file: Path, place: Place, shape: Shape) -> tuple[str, int]:
    if shape.kind != RECORDS.kind:
        raise MoldauError(f"{file} is a segment of a log: it holds records, not {shape.kind}")
    topic, partition = partition_of(file.parent) or (None, None)
    topic = place.topic if place.topic is not None else topic
    partition = place.partition if place.partition is not None else partition
    if topic is None or partition is None:
        raise MoldauError(
            f"{file} lies in no folder that is named TOPIC-PARTITION: give --topic and --partition"
        )
    return topic, partition
