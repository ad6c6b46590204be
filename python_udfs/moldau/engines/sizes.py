"""The size of the tables that a run reads, by which the engine is chosen."""

from __future__ import annotations

import contextlib
import os
from functools import cache, lru_cache
from pathlib import Path

import yaml

from moldau.domains import topics
from moldau.project import ROOT
from moldau.warehouse.contracts import Loader
from moldau.warehouse.damage import looking_at
from moldau.warehouse.delta_log import last_commit
from moldau.warehouse.kept import kept_table

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
    return int(project["models"]["moldau"]["+small_bytes"])


def is_small(warehouse: Path, bytes_coming: int = 0) -> bool:
    """`bytes_coming`: of what a run brings."""
    return bytes_read(warehouse) + bytes_coming < small_bytes()


def bytes_read(warehouse: Path) -> int:
    """Bytes of what runs read: all state, and the decoded records that are folded again where they
    came out of order or a setting is another.

    Of all files that are there if that is little, else of the latest versions, as Delta's logs
    tell: to open a table takes milliseconds. A table is looked at once after each of its commits.
    """
    tables = [log.parent for log in (warehouse / "state").glob("*/_delta_log")]
    decoded = (topic.table for topic in topics().values() if topic.is_read_again)
    tables += [warehouse.joinpath(*table.split(".")) for table in decoded]
    commits = {folder: _last_commit(folder) for folder in tables if folder.is_dir()}
    few = small_bytes()
    on_disk = sum(_bytes_on_disk(*one, few) for one in commits.items())
    return on_disk if on_disk < few else sum(_bytes(*one) for one in commits.items())


def _last_commit(folder: Path) -> tuple[int, int]:
    with looking_at(folder):
        return last_commit(folder)


@lru_cache(128)
def _bytes_on_disk(folder: Path, _commit: tuple[int, int], enough: int) -> int:
    """So many, or more than enough. Another writer may remove files meanwhile."""

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


@lru_cache(128)
def _bytes(folder: Path, _commit: tuple[int, int]) -> int:
    with looking_at(folder):
        sizes: list[int] = kept_table(folder).get_add_actions().column("size_bytes").to_pylist()
    return sum(sizes)
