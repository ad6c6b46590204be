"""Spark's twenty thousand classes, as a JVM has read and checked them, kept for those that follow.

The JVM of a brief command that finds no such archive writes it as it ends, when the command has
ended already: 20 s of CPU once, in the background, for a quarter of the CPU that Spark takes to
start and plan a small run. A JVM looks itself whether an archive is whole, and of its version and
its jars; it goes on without one that is not.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterable
from pathlib import Path

_ARCHIVES = 3  # of 180 MB each; the one that was taken last stays longest
_PATIENCE_S = 3600  # until another process tries that the one which was to write it has died
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"  # of each class that it cannot keep it would tell


def archive_options(folder: Path, java: Path, jars: Iterable[Path], ends_soon: bool) -> str:
    """Of a JVM: take the archive of this Java and these folders of jars, or, if it ends soon, write
    it; "" = neither.

    `folder`: where archives lie. It is made; where it cannot be, there are none."""
    archive = folder / f"{_digest(java, jars)}.jsa"
    with contextlib.suppress(OSError):
        if _is_whole(archive):
            archive.with_suffix(".begun").touch()
            return f'"-XX:SharedArchiveFile={archive}" {_QUIET}'
        folder.mkdir(parents=True, exist_ok=True)
        if ends_soon and _is_ours(archive.with_suffix(".begun")):
            _make_room(folder)
            return f'"-XX:ArchiveClassesAtExit={archive}" {_QUIET}'
    return ""


def _is_whole(archive: Path) -> bool:
    """The JVM writes the header last."""
    try:
        with archive.open("rb") as file:
            return any(file.read(8))
    except FileNotFoundError:
        return False


def _is_ours(claim: Path) -> bool:
    """Of processes that start at once one writes the archive."""
    try:
        claim.touch(exist_ok=False)
    except FileExistsError:
        if time.time() - claim.stat().st_mtime < _PATIENCE_S:
            return False
        claim.touch()
    return True


def _make_room(folder: Path) -> None:
    """JVMs that have taken an archive keep it."""
    claims = sorted(folder.glob("*.begun"), key=lambda one: one.stat().st_mtime, reverse=True)
    for claim in claims[_ARCHIVES:]:
        claim.with_suffix(".jsa").unlink(missing_ok=True)
        claim.unlink(missing_ok=True)


def _digest(java: Path, jars: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in (java.resolve(), *(jar for folder in jars for jar in sorted(folder.glob("*.jar")))):
        told = file.stat()
        digest.update(f"{file} {told.st_size} {told.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]
