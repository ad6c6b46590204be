"""Recognize errors of a full disk in any library, and say which disk is full.

Python, Delta's library, DuckDB, dbt and Java each report it differently, most without a path.
"""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from moldau.cli.say import STDOUT
from moldau.errors import MoldauError

_WHAT = {
    errno.ENOSPC: "the file system at {mount} is full",
    errno.EDQUOT: "the quota on the file system at {mount} is used up",
    errno.EFBIG: "no file may be as long there (see `ulimit -f`)",
}
_QUOTED = re.compile(r'"(/[^"\\]+)\\?"')


def is_full(error: OSError) -> bool:
    return error.errno in _WHAT


def in_words(error: BaseException, warehouse: Path | None, arguments: Sequence[str]) -> str | None:
    """One line if the error, or what it came from, is that a disk is full; else None."""
    for step in _came_from(error):
        code = _code(step)
        if code is None:
            continue
        place = _named(step)
        if isinstance(step, OSError) and place == STDOUT:
            found = Path(step.filename2)
            lost = "what is there is cut short, and nothing else is lost"
        else:
            found = _fullest(place, warehouse, arguments)
            place, lost = str(found), "nothing is lost"
        what = _WHAT[code].format(mount=_mount(found))
        room = "make room there" if code != errno.EFBIG else "allow it"
        return f"{place}: {os.strerror(code)}: {what}; {lost}: {room} and give the command again"
    return None


def _came_from(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        step = waiting.pop(0)
        if id(step) in seen:
            continue
        seen.add(id(step))
        yield step
        waiting += [it for it in (step.__cause__, step.__context__) if it is not None]


def _code(error: BaseException) -> int | None:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno if error.errno in _WHAT else None
    if isinstance(error, MoldauError):
        return None  # it may quote what somebody else wrote
    said = str(error)
    return next((code for code in _WHAT if os.strerror(code) in said), None)


def _named(error: BaseException) -> str | None:
    if isinstance(error, OSError) and error.filename is not None:
        return os.fsdecode(error.filename)
    found = _QUOTED.search(str(error))
    return found[1] if found and os.path.isdir(os.path.dirname(found[1])) else None


def _fullest(named: str | None, warehouse: Path | None, arguments: Sequence[str]) -> Path:
    """The path that is named, else the one with the least room of those that were written to."""
    if named is not None:
        return Path(named).absolute()
    targets = [after for word, after in pairwise(arguments) if word == "--to"]
    targets += [word.removeprefix("--to=") for word in arguments if word.startswith("--to=")]
    candidates: list[str | Path] = [*targets, *filter(None, [warehouse]), tempfile.gettempdir()]
    return min((Path(it).absolute() for it in candidates), key=_room)


def _room(path: Path) -> int:
    told = os.statvfs(_there(path))
    return min(told.f_bavail * told.f_frsize, told.f_favail if told.f_files else told.f_bavail)


def _there(path: Path) -> Path:
    """The path, or the folder above it that is there."""
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _mount(path: Path) -> Path:
    path = _there(path)
    while not os.path.ismount(path) and path != path.parent:
        path = path.parent
    return path
