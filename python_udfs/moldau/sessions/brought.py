"""What a load brings, as its journal has it."""

from __future__ import annotations

from dataclasses import dataclass, field

from moldau.settings.fields import Name
from moldau.warehouse.notes import EXACTLY


@dataclass(frozen=True)
class Refusal:
    """A line that a load refused, and why."""

    file: str
    line: int  # from 1; of a Parquet file, the row
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(frozen=True)
class Position:
    """How far a partition of a live cluster is read: offsets below `next_offset`."""

    __pydantic_config__ = EXACTLY

    topic_name: str
    partition_index: int
    topic_id: str
    next_offset: int
    # as of the poll
    log_start_offset: int
    last_stable_offset: int
    high_watermark: int
    polled_at_ms: int


@dataclass
class Brought:
    """What a load brings, and what was refused on the way."""

    __pydantic_config__ = EXACTLY

    run_id: str
    kind: str
    cluster_id: Name
    files: list[str] = field(default_factory=list)
    rows: int = 0
    has_repeats: bool = False
    refused: list[Refusal] = field(default_factory=list)
    """The first of them; all are in a file."""
    refused_more: int = 0
    refused_files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a person should know of the files."""
    # records only: first and last offset of each partition
    ranges: list[tuple[str, int, int, int]] = field(default_factory=list)
    # of records that were read from a live cluster
    positions: list[Position] = field(default_factory=list)
