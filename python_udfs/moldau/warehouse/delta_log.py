"""A table's `_delta_log`, inspected through the file system alone.

Delta itself reads an empty commit file as "no changes" and may heal over a torn one; moldau
refuses both, so the files are checked before anything opens the table.
"""

from __future__ import annotations

import json
import os
import re
import time
from base64 import b85decode
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from uuid import UUID

from moldau.warehouse.durable import fsync

_COMMIT = re.compile(r"(\d{20})\.json$")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-f-]{36})?\.")
_YOUNG_NS = 50_000_000  # what changes a folder twice so soon may leave it one and the same time
_MANY = 256  # listings, or commits that are read again
_MANY_READ = 32 * _MANY  # commits
_listed: OrderedDict[Path, tuple[tuple[int, int], tuple[str, ...]]] = OrderedDict()
_read: OrderedDict[str, tuple[tuple[int, int, int], _Told]] = OrderedDict()
_MAGIC = b"PAR1"
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


class LogDamageError(Exception):
    """What is wrong with the log, with the file's name."""


@dataclass(frozen=True)
class _File:
    """That a commit adds or removes; `path` is relative to the table's folder, as the log has it.

    `vector_file`: of its deletion vector; None = it has none, or it is stored in the log."""

    is_added: bool
    path: str
    has_vector: bool
    vector_file: str | None


@dataclass(frozen=True)
class _Told:
    """What a commit says of a table. `is_redefined`: columns, properties or features are others."""

    files: tuple[_File, ...]
    is_redefined: bool


def log_names(folder: Path) -> tuple[str, ...]:
    """Names of the files in the table's log, sorted: commits are in the order of their versions.

    A log that grows for a week is long: it is listed again when a file has come or gone, as the
    time of the folder tells. OSError if it cannot be listed.
    """
    log = folder / "_delta_log"
    found = os.stat(log)
    stamp = (found.st_ino, found.st_mtime_ns)
    kept = _listed.pop(folder, None)
    if kept is None or kept[0] != stamp:
        kept = (stamp, tuple(sorted(os.listdir(log))))
        if time.time_ns() - found.st_mtime_ns < _YOUNG_NS:
            return kept[1]
    _listed[folder] = kept
    if len(_listed) > _MANY:
        _listed.popitem(last=False)
    return kept[1]


def read_log_tail(folder: Path) -> set[str]:
    """Check every commit since the last checkpoint of the table in `folder`; gives the files of
    deletion vectors that they name.

    LogDamageError if there is no log, a commit is missing, empty or not JSON, or the last
    checkpoint is empty or torn.
    """
    log = folder / "_delta_log"
    if not log.is_dir():
        raise LogDamageError("the folder has no _delta_log")
    names = log_names(folder)
    checkpoint = _last_checkpoint(log, names)
    first = 0 if checkpoint is None else bisect_left(names, f"{checkpoint + 1:020d}")
    commits = {int(m[1]) for name in names[first:] if (m := _COMMIT.fullmatch(name))}
    last = max(commits, default=-1 if checkpoint is None else checkpoint)
    if last < 0:
        raise LogDamageError("_delta_log holds no commit")
    deletion_vectors: dict[str, str | None] = {}
    for version in range(0 if checkpoint is None else checkpoint + 1, last + 1):
        if version not in commits:
            raise LogDamageError(f"_delta_log/{version:020d}.json is missing")
        for file in _told(log, version).files:
            if file.is_added:
                deletion_vectors[file.path] = file.vector_file
            # one commit may re-add a path under another deletion vector: the add counts
            elif file.vector_file == deletion_vectors.get(file.path):
                deletion_vectors.pop(file.path, None)
    return {name for name in deletion_vectors.values() if name}


def last_commit(folder: Path) -> tuple[int, int]:
    """Version and time of the last commit in the table's log, unchecked; (-1, 0) = there is none.

    The time tells a table from another one that was made in its place.
    """
    log = folder / "_delta_log"
    last = _newest(log_names(folder), _COMMIT)
    return (last, (log / f"{last:020d}.json").stat().st_mtime_ns) if last >= 0 else (last, 0)


def files_since(folder: Path, commit: tuple[int, int]) -> tuple[list[str], list[str]] | None:
    """Files that the table in `folder` has gained and lost since a commit (as of `last_commit`).

    None = its log does not tell: it is another table, the commit is too long ago, or rows were
    hidden in files that stay.
    """
    log = folder / "_delta_log"
    version, time_ns = commit
    newest = newest_version(folder)
    try:
        if (log / f"{version:020d}.json").stat().st_mtime_ns != time_ns:
            return None
        if newest - version > _MANY:
            return None
        commits = [_told(log, later) for later in range(version + 1, newest + 1)]
    except (OSError, LogDamageError):
        return None
    gained: dict[str, None] = {}
    lost: dict[str, None] = {}
    for commit_told in commits:
        if commit_told.is_redefined or any(file.has_vector for file in commit_told.files):
            return None
        for file in commit_told.files:
            path = unquote(file.path)
            if file.is_added:
                gained[path] = None
            elif path in gained:
                del gained[path]
            else:
                lost[path] = None
    return list(gained), list(lost)


def forget_before(folder: Path, version: int) -> None:
    """Delete what only earlier versions of the table in `folder` need: commits and checkpoints
    before the last checkpoint that is not later.

    Oldest first: who is killed leaves versions that cannot be read, and none that is wrong.
    OSError, or LogDamageError if that checkpoint is torn.
    """
    log = folder / "_delta_log"
    names = log_names(folder)
    checkpoint = _last_checkpoint(log, names[: bisect_left(names, f"{version + 1:020d}")])
    for name in names[: bisect_left(names, f"{checkpoint or 0:020d}")]:
        if _COMMIT.fullmatch(name) or _CHECKPOINT.match(name):
            (log / name).unlink(missing_ok=True)


def newest_version(folder: Path) -> int:
    """By the names in the table's log; -1 = it has none."""
    try:
        names = log_names(folder)
    except (FileNotFoundError, NotADirectoryError):
        return -1
    return max(_newest(names, _COMMIT), _newest(names, _CHECKPOINT))


def _newest(names: Sequence[str], pattern: re.Pattern[str]) -> int:
    """The greatest version; -1 = there is none. Most logs end with one that fits."""
    for name in reversed(names):
        if found := pattern.match(name):
            return int(found[1])
    return -1


def write_commit(folder: Path, version: int, actions: list[dict[str, Any]]) -> None:
    """Commit these actions to the table in `folder`: all of them, or none.

    FileExistsError if another writer has made that version.
    """
    commit = folder / "_delta_log" / f"{version:020d}.json"
    unfinished = commit.with_name(f".{commit.name}.unfinished")
    lines = "".join(
        json.dumps(action, ensure_ascii=False, separators=(",", ":")) + "\n" for action in actions
    )
    unfinished.write_text(lines, encoding="utf-8")
    fsync(unfinished)
    try:
        os.link(unfinished, commit)  # unlike a rename it replaces nothing
    finally:
        unfinished.unlink()
    fsync(commit.parent)


def _last_checkpoint(log: Path, names: Sequence[str]) -> int | None:
    """Version of the last complete checkpoint."""
    parts: dict[int, int] = {}
    for name in reversed(names):
        match = _CHECKPOINT.match(name)
        if not match or not name.endswith((".parquet", ".json")):
            continue
        version = int(match[1])
        if wrong := _wrong_end(log / name):
            raise LogDamageError(f"_delta_log/{name} {wrong}")
        parts[version] = parts.get(version, 0) + 1
        if match[3] is None or parts[version] == int(match[3]):
            return version
    return None


def _wrong_end(checkpoint: Path) -> str | None:
    """None = nothing: it ends as its format does."""
    with checkpoint.open("rb") as file:
        if not (size := file.seek(0, os.SEEK_END)):
            return "is empty"
        file.seek(max(size - len(_MAGIC), 0))
        is_whole = checkpoint.suffix != ".parquet" or file.read() == _MAGIC
    return None if is_whole else "is torn"


def _told(log: Path, version: int) -> _Told:
    """Read once, as long as the file is what it was: a run asks for the same commits some sixty
    times, and the first one of a big table names all of its files. LogDamageError, OSError."""
    name = f"{version:020d}.json"
    path = f"{log}/{name}"
    found = os.stat(path)
    stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
    kept = _read.pop(path, None)
    if kept is None or kept[0] != stamp:
        kept = (stamp, _read_commit(path, f"_delta_log/{name}"))
    _read[path] = kept
    if len(_read) > _MANY_READ:
        _read.popitem(last=False)
    return kept[1]


def _read_commit(path: str, name: str) -> _Told:
    actions = _actions(Path(path), name)
    files = []
    for action in actions:
        for kind in ("add", "remove"):
            if isinstance(told := action.get(kind), dict):
                has_vector = bool(told.get("deletionVector"))
                vector_file = _vector_file(told)
                files.append(_File(kind == "add", str(told.get("path")), has_vector, vector_file))
                break
    is_redefined = any("metaData" in action or "protocol" in action for action in actions)
    return _Told(tuple(files), is_redefined)


def _actions(path: Path, name: str) -> list[dict[str, Any]]:
    content = path.read_bytes()
    if not content.strip():
        raise LogDamageError(f"{name} is empty: the commit was cut off")
    actions = []
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            action = json.loads(line)
        except ValueError:
            action = None
        if not isinstance(action, dict):
            raise LogDamageError(f"{name}, line {number} is not JSON: the commit is torn")
        actions.append(action)
    return actions


def _vector_file(add: dict[str, Any]) -> str | None:
    """Path below the table of a file's deletion vector; None = none, or stored in the log."""
    vector = add.get("deletionVector")
    if not vector or vector.get("storageType") != "u":
        return None
    encoded = vector["pathOrInlineDv"]
    prefix, identifier = encoded[:-20], encoded[-20:].translate(str.maketrans(_Z85, _B85))
    name = f"deletion_vector_{UUID(bytes=b85decode(identifier))}.bin"
    return f"{prefix}/{name}" if prefix else name
