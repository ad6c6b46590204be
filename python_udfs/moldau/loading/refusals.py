"""Lines that a load refused: all in a file, a JSON object a line; the first ones at hand, too."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

from moldau.sessions.brought import Refusal

AT_HAND = 1_000


class Refusals:
    """Those that came so far; the file is there if there are any."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.first: list[Refusal] = []
        self.count = 0

    def add(self, refused: Sequence[Refusal]) -> None:
        if refused:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as out:
                out.writelines(json.dumps(asdict(refusal)) + "\n" for refusal in refused)
            self._note(refused, len(refused))

    def begin_with(self, file: Path, first: Sequence[Refusal], count: int) -> None:
        """Take over those of an earlier stage; whatever was here before goes."""
        self.file.unlink(missing_ok=True)
        if file.exists():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, self.file)
            self._note(first, count)
        else:
            self.add(first)

    def read_again(self) -> None:
        """Those that a killed command had noted."""
        if self.file.exists():
            with self.file.open(encoding="utf-8") as lines:
                first = [Refusal(**json.loads(line)) for line in islice(lines, AT_HAND)]
                self._note(first, len(first) + sum(1 for _ in lines))

    def _note(self, refused: Sequence[Refusal], count: int) -> None:
        self.first += refused[: AT_HAND - len(self.first)]
        self.count += count
