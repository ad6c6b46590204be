"""Run dbt in this process, on the session that is open."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
import pickle
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from moldau.compiled.kept import kept, manifest_file
from moldau.project import PROFILES, ROOT


class DbtError(RuntimeError):
    """A node failed: what dbt said about it."""


_manifest: Any = None  # read once a process: a parse costs more than the rest of an invocation
_alone = threading.RLock()  # one process bears one invocation of dbt at a time


def dbt(*arguments: str, warehouse: Path) -> None:
    """`dbt ARGUMENTS`; raises DbtError with dbt's own words when a node fails."""
    _parse(warehouse)
    _invoke(list(arguments), warehouse)


def parse_early(warehouse: Path) -> None:
    """Parse beside the start of the JVM; whoever needs the result waits for it."""

    def parse() -> None:
        # the first invocation meets it again, and tells
        with _alone, _uncollected(), contextlib.suppress(Exception):
            if _manifest is None:
                _parse(warehouse)
                _invoke(["parse"], warehouse)  # of what was read: the first one imports half of dbt

    threading.Thread(target=parse, daemon=True).start()


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Objects by the hundred thousand come to stay: Python looks in vain which of them are garbage,
    for a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _parse(warehouse: Path) -> Any:
    global _manifest
    with _alone:
        if _manifest is None:
            _manifest = kept(
                manifest_file(),
                lambda: _invoke(["parse"], warehouse).result,
                _unpickled,
                _pickled,
            )
    return _manifest


def _pickled(manifest: Any) -> bytes:
    """Without its look-ups, which dbt makes when it needs them (its own pickle loses a field)."""
    told = (one.name for one in dataclasses.fields(manifest) if not one.name.startswith("_"))
    return pickle.dumps({name: getattr(manifest, name) for name in told})


def _unpickled(content: bytes) -> Any:
    """dbt's manifest, which this user's own process has written for this version of all of it."""
    from dbt.contracts.graph.manifest import Manifest

    try:
        return Manifest(**pickle.loads(content))
    except Exception as error:  # pickle promises no kind
        raise ValueError("no manifest of this dbt") from error


def _invoke(arguments: list[str], warehouse: Path) -> Any:
    from dbt.cli.main import dbtRunner

    work = warehouse / "_moldau" / "dbt"
    work.mkdir(parents=True, exist_ok=True)
    os.environ["DBT_TARGET_PATH"] = str(work / "target")
    # stdout is for the command's own answer. To catch what dbt writes there would catch what any
    # other thread writes, too: a parse runs beside the start of Spark.
    options = [
        "--project-dir", str(ROOT), "--profiles-dir", str(PROFILES), "--target", "open",
        "--target-path", str(work / "target"), "--log-path", str(work / "logs"),
        "--log-level", "none", "--no-print", "--no-populate-cache", "--no-write-json",
    ]  # fmt: skip
    errors: list[str] = []

    def hear(event: Any) -> None:
        if event.info.level == "error":
            errors.append(event.info.msg)

    with _alone:
        outcome = dbtRunner(manifest=_manifest, callbacks=[hear]).invoke([*arguments, *options])
    if not outcome.success:
        told = outcome.exception or _failures(outcome) or "\n".join(errors)
        raise DbtError(str(told).strip() or f"dbt {arguments[0]} failed")
    return outcome


def _failures(outcome: Any) -> str:
    return "\n".join(
        f"{result.node.name}: {_without_stack(result.message or '')}"
        for result in getattr(outcome.result, "results", [])
        if result.status in ("error", "fail")
    )


def _without_stack(message: str) -> str:
    """Spark's words and causes without the JVM's stacks; the whole is in dbt's log."""
    words = re.split(r"\n\s*(?:JVM stacktrace:|at [\w.$]+\()", message)[0][:4000]
    causes = re.findall(r"^\s*Caused by: (.*)$", message, re.MULTILINE)
    return "\ncaused by ".join([words, *(cause[:1000] for cause in dict.fromkeys(causes))])


def compiled_project(work: Path) -> dict[str, Any]:
    """dbt's nodes by key, from no engine: models with their SQL, and the tables that they read.

    `work`: a folder that dbt may write into.
    """
    nodes = _parse(work).nodes
    names = sorted(node.name for node in nodes.values() if node.resource_type == "model")
    results = _invoke(["compile", "--select", *names], work).result.results
    compiled = {result.node.unique_id: result.node for result in results}
    seeds = {key: node for key, node in nodes.items() if node.resource_type == "seed"}
    models = {key: node for key, node in compiled.items() if node.resource_type == "model"}
    return dict(_manifest.sources) | seeds | models
