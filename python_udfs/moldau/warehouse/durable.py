"""Write files that are on the disk when the call returns."""

from __future__ import annotations

import os
from pathlib import Path


def write_durably(path: Path, text: str) -> None:
    """Write a file as a whole: it is there with all of its text, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(text)
    fsync(unfinished)
    os.rename(unfinished, path)
    fsync(path.parent)


def fsync(*paths: Path) -> None:
    """Files and folders whose content must outlive a crash of the machine."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
