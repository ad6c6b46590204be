"""Handle files in `_moldau` where a folder belongs, and folders where a file does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from moldau.warehouse.paths import FILES, FOLDERS, IDLE


def put_in_order(warehouse: Path) -> None:
    """Move what is in the place of something else out of its way: moldau makes that anew."""
    for path in reversed(FOLDERS):
        put_aside(warehouse / path, is_folder=True)
    for path in FILES:
        put_aside(warehouse / path, is_folder=False)
    if (warehouse / IDLE).is_dir():
        for note in (warehouse / IDLE).glob("*.json"):
            put_aside(note, is_folder=False)


def put_aside(path: Path, is_folder: bool) -> None:
    """It is kept as `….unusable`, in the place of what was kept before."""
    if not os.path.lexists(path) or path.is_dir() == is_folder:
        return
    kept = path.with_name(f"{path.name}.unusable")
    if kept.is_dir() and not kept.is_symlink():
        shutil.rmtree(kept)
    elif os.path.lexists(kept):
        kept.unlink()
    path.rename(kept)
