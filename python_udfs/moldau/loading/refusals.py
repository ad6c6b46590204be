"""Lines that a load refused: which file, which line, why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    file: str
    line: int  # from 1; of a Parquet file, the row
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"
