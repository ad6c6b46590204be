"""A log: the segments of one partition, in the order of their offsets, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from moldau.loading.checked_rows import Chunk
from moldau.loading.segments.batches import Batches, batches_of
from moldau.loading.segments.reading import chunks_of
from moldau.loading.segments.transactions import Transactions
from moldau.records.families import (
    CONSUMER_OFFSETS,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    family_of,
)
from moldau.settings.limits import Limits

_SEGMENT = re.compile(r"\d{20}\.log")
# what a broker deletes, moves or does not know has an ending behind the partition
_FOLDER = re.compile(r"([a-zA-Z0-9._-]{1,249})-(\d{1,10})(\.[a-zA-Z0-9_-]+-(delete|future|stray))?")
_COMPACTED = (CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE)
Note = Callable[[str], None]


def partition_of(folder: Path) -> tuple[str, int] | None:
    """Topic and partition, by the name that a broker gives the folder."""
    told = _FOLDER.fullmatch(folder.absolute().name)
    return (told[1], int(told[2])) if told else None


def is_segment(file: Path) -> bool:
    """By the name that a broker gives it."""
    return _SEGMENT.fullmatch(file.name) is not None


@dataclass(frozen=True)
class Log:
    topic: str
    partition: int
    files: Sequence[Path]
    limits: Limits
    note: Note

    @cached_property
    def _sizes(self) -> dict[Path, int]:
        """As of the beginning: a broker may write to the last one meanwhile."""
        return {file: file.stat().st_size for file in self.files}

    @cached_property
    def _transactions(self) -> Transactions:
        """Seen before anything is read: the end of a transaction may stand in a later segment."""
        found = Transactions.of(
            batches
            for file, size in self._sizes.items()
            for batches in batches_of(file, size, self.limits)
            if isinstance(batches, Batches)
        )
        for line in (*self._told_of_the_beginning(), *found.told(f"{self.topic}-{self.partition}")):
            self.note(line)
        return found

    def _told_of_the_beginning(self) -> Iterator[str]:
        """A compacted log keeps its first segment's name, however much was compacted."""
        first = self.files[0]
        if is_segment(first) and int(first.stem) and family_of(self.topic) in _COMPACTED:
            yield (
                f"{self.topic}-{self.partition} begins with the segment of offset "
                f"{int(first.stem)}: what its log holds before that is not in these files; load "
                "the earlier segments, too"
            )

    def chunks(self, file: Path) -> Iterator[Chunk]:
        """Rows of RECORDS of one of the files, and what of it cannot be read."""
        given, size = self._transactions.given, self._sizes[file]
        yield from chunks_of(file, size, self.topic, self.partition, given, self.limits)


def in_order(files: Sequence[Path]) -> list[Path]:
    """By the offset that a segment's name begins with."""
    return sorted(files, key=lambda file: (not file.stem.isdigit(), file.stem.zfill(20), str(file)))
