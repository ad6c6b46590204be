"""What is made of a version of the project once, and kept in the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from moldau.project import ROOT, cache_folder

# what compiles the project, and translates it
_COMPILERS = ("dbt-core", "dbt-spark", "dbt-adapters", "dbt-common", "jinja2", "sqlglot")


def is_compiled() -> bool:
    """Nobody has to wait for dbt."""
    return _file("graph").exists()


def _file(name: str) -> Path:
    return cache_folder(name) / f"{_digest()}.json"


def cached(name: str, make: Callable[[], Any]) -> Any:
    """What `make` gives, as JSON, kept for this version of the project."""
    return kept(_file(name), make, json.loads, lambda content: json.dumps(content).encode())


def kept(
    file: Path,
    make: Callable[[], Any],
    read: Callable[[bytes], Any],
    write: Callable[[Any], bytes],
) -> Any:
    """What stands in a file of the cache, or else what `make` gives, which is put there.

    `read` raises ValueError where the file is not what `write` gave.
    """
    try:
        return read(file.read_bytes())
    except (OSError, ValueError):
        content = make()
        with contextlib.suppress(OSError):  # then the next command makes it anew
            file.parent.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(write(content))
            os.replace(unfinished, file)
        return content


def manifest_file() -> Path:
    """Where dbt's own manifest is kept: it names the folder of the project."""
    place = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    return cache_folder("manifest") / f"{_digest()}-{place}.pickle"


@cache
def _digest() -> str:
    """Changes if what is compiled, or how it is compiled and translated, does."""
    from importlib.metadata import version

    package = Path(__file__).parents[1]
    files = [ROOT / "dbt_project.yml", package / "reading/tables/views.py"]
    files += [package / "warehouse/contracts.py", package / "literals.py"]
    files += [package / "engines/duckdb/outcome.py"]
    files += sorted([*package.glob("compiled/*.py"), *package.glob("engines/duckdb/trans*.py")])
    files += sorted((package.parent / "dbt/include/moldau").rglob("*.*"))
    # in an order that is the same wherever the project lies
    folders = ("models", "macros", "profiles", "seeds")
    files += [file for folder in folders for file in sorted((ROOT / folder).rglob("*.*"))]
    digest = hashlib.sha256()
    for name in _COMPILERS:
        digest.update(f"{name} {version(name)}\n".encode())
    for file in files:
        if file.suffix in (".sql", ".yml", ".py"):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
