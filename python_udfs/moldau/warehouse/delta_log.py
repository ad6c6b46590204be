"""A table's `_delta_log`, inspected through the file system alone.

Delta itself reads an empty commit file as "no changes" and may heal over a torn one; moldau
refuses both, so the files are checked before anything opens the table.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b85decode
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import UUID

from moldau.warehouse.durable import fsync

_COMMIT = re.compile(r"(\d{20})\.json$")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-f-]{36})?\.")
_LAST = 256  # files; a checkpoint follows 50 commits, 100 where nobody says otherwise
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


class LogDamageError(Exception):
    """What is wrong with the log, with the file's name."""


def read_log_tail(folder: Path) -> set[str]:
    """Check every commit since the last checkpoint of the table in `folder`; gives the files of
    deletion vectors that they name.

    LogDamageError if there is no log, a commit is missing, empty or not JSON, or the last
    checkpoint is empty.
    """
    log = folder / "_delta_log"
    if not log.is_dir():
        raise LogDamageError("the folder has no _delta_log")
    names = os.listdir(log)
    checkpoint = _last_checkpoint(log, names)
    # names have all their digits, so they are in the order of the versions
    first = "" if checkpoint is None else f"{checkpoint + 1:020d}"
    commits = {
        int(m[1]): log / name for name in names if name >= first and (m := _COMMIT.fullmatch(name))
    }
    last = max(commits, default=-1 if checkpoint is None else checkpoint)
    if last < 0:
        raise LogDamageError("_delta_log holds no commit")
    deletion_vectors: dict[str, str | None] = {}
    for version in range(0 if checkpoint is None else checkpoint + 1, last + 1):
        name = f"_delta_log/{version:020d}.json"
        if version not in commits:
            raise LogDamageError(f"{name} is missing")
        for action in _actions(commits[version], name):
            if isinstance(add := action.get("add"), dict):
                deletion_vectors[str(add.get("path"))] = _vector_file(add)
            elif isinstance(remove := action.get("remove"), dict):
                # one commit may re-add a path under another deletion vector: the add counts
                path = str(remove.get("path"))
                if _vector_file(remove) == deletion_vectors.get(path):
                    deletion_vectors.pop(path, None)
    return {name for name in deletion_vectors.values() if name}


def last_commit(folder: Path) -> tuple[int, int]:
    """Version and time of the last commit in the table's log, unchecked; (-1, 0) = there is none.

    The time tells a table from another one that was made in its place.
    """
    log = folder / "_delta_log"
    last = _newest(os.listdir(log), _COMMIT)
    return (last, (log / f"{last:020d}.json").stat().st_mtime_ns) if last >= 0 else (last, 0)


def newest_version(folder: Path) -> int:
    """By the names in the table's log; -1 = it has none."""
    try:
        names = os.listdir(folder / "_delta_log")
    except (FileNotFoundError, NotADirectoryError):
        return -1
    return max(_newest(names, _COMMIT), _newest(names, _CHECKPOINT))


def _newest(names: Iterable[str], pattern: re.Pattern[str]) -> int:
    """The greatest version; -1 = there is none. Most logs end with one that fits."""
    for name in sorted(names, reverse=True):
        if found := pattern.match(name):
            return int(found[1])
    return -1


def log_files(folder: Path) -> tuple[tuple[str, int, int, int], ...]:
    """Name, inode, size and time of the last files in the table's log: another table has others.

    They reach beyond the last checkpoint, before which nothing is read."""
    log = folder / "_delta_log"
    stats = [(name, (log / name).stat()) for name in sorted(os.listdir(log))[-_LAST:]]
    return tuple((name, s.st_ino, s.st_size, s.st_mtime_ns) for name, s in stats)


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


def _last_checkpoint(log: Path, names: Iterable[str]) -> int | None:
    """Version of the last complete checkpoint."""
    parts: dict[int, int] = {}
    for name in sorted((name for name in names if ".checkpoint" in name), reverse=True):
        match = _CHECKPOINT.match(name)
        if not match or not name.endswith((".parquet", ".json")):
            continue
        version = int(match[1])
        if (log / name).stat().st_size == 0:
            raise LogDamageError(f"_delta_log/{name} is empty")
        parts[version] = parts.get(version, 0) + 1
        if match[3] is None or parts[version] == int(match[3]):
            return version
    return None


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
