"""The size of the tables that a run reads, by which the engine is chosen."""

from __future__ import annotations

import contextlib
import os
from functools import cache, lru_cache
from pathlib import Path

import yaml

from moldau.declared import topics
from moldau.project import ROOT
from moldau.warehouse.contracts import Loader
from moldau.warehouse.damage import looking_at
from moldau.warehouse.delta_log import last_commit
from moldau.warehouse.kept import is_kept, kept_table

_GROWTH = 16  # a sweep in full took 956 MiB for 30 on disk, and 2,073 for 121: 12 for each more
_SHARE = 0.5  # of memory


@cache
def duckdb_bytes() -> int:
    """On disk: below this what a run needs fits into half of the memory, and DuckDB is faster."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with contextlib.suppress(OSError, ValueError):  # a container has less, or says "max"
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return int(memory * _SHARE / _GROWTH)


@cache
def small_bytes() -> int:
    """Below this it does not pay when Spark compiles and divides its work (`dbt_project.yml`)."""
    project = yaml.load((ROOT / "dbt_project.yml").read_text(), Loader)
    return int(project["models"]["moldau"]["+meta"]["small_bytes"])


def is_small(warehouse: Path, bytes_coming: int = 0) -> bool:
    """`bytes_coming`: of what a run brings."""
    return bytes_read(warehouse) + bytes_coming < small_bytes()


def bytes_read(warehouse: Path) -> int:
    """Bytes of what runs read: all state, and the decoded records that are folded again where they
    came out of order or a setting is another.

    Of a table that the process has open as its log tells, of others of all files that are there,
    until that is much: to open a table takes milliseconds.
    """
    tables = [log.parent for log in (warehouse / "state").glob("*/_delta_log")]
    decoded = (topic.table for topic in topics().values() if topic.is_read_again)
    tables += [warehouse.joinpath(*table.split(".")) for table in decoded]
    enough = small_bytes()
    found = {
        folder: _bytes(folder) if is_kept(folder) else _bytes_on_disk(folder, enough)
        for folder in tables
        if folder.is_dir()
    }
    for folder in sorted(found, key=found.__getitem__, reverse=True):
        if sum(found.values()) < enough or not found[folder]:
            break
        found[folder] = _bytes(folder)
    return sum(found.values())


def _bytes_on_disk(folder: Path, enough: int) -> int:
    """So many, or more than enough: each is looked at once after each of its commits."""
    with looking_at(folder):
        return _bytes_found(folder, last_commit(folder), enough)


@lru_cache(128)
def _bytes_found(folder: Path, _commit: tuple[int, int], enough: int) -> int:
    """Another writer may remove files meanwhile."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    found = 0
    with looking_at(folder):
        for parent, folders, names in os.walk(folder, onerror=refuse):
            folders[:] = [name for name in folders if name != "_delta_log"]
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    found += os.stat(os.path.join(parent, name)).st_size
                if found >= enough:
                    return found
    return found


def _bytes(folder: Path) -> int:
    """Of the latest version."""
    with looking_at(folder):
        sizes: list[int] = kept_table(folder).get_add_actions().column("size_bytes").to_pylist()
    return sum(sizes)
