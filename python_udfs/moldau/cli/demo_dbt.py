"""The last part of the demo: the same cycle by plain dbt on Spark leaves the same tables."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.cli.story import ask, tell
from moldau.errors import MoldauError
from moldau.instants import format_instant
from moldau.project import PROFILES, ROOT

if TYPE_CHECKING:
    from moldau.sessions.session import Session

CLUSTER = "east"
COMPARED = ("raw", "decoded", "state", "decisions", "history", "plugin")
_REMOTE = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
_DBT = "from dbt.cli.main import cli; cli()"


def tell_of_dbt(session: Session, at_ms: int) -> None:
    """Decide in the warehouse, and by dbt in a copy of it; say whether they are the same."""
    from moldau.engines.spark.java import find_java
    from moldau.runs.decide import decide

    tell("\n--- And by dbt, on Spark? ---")
    try:
        find_java()
    except MoldauError as error:
        tell(f"Spark needs Java, so this is left out: {error}")
        return
    warehouse = session.warehouse
    told = f"{{at: '{format_instant(at_ms)}', clusters: [{CLUSTER}]}}"
    with tempfile.TemporaryDirectory(prefix="moldau-demo-") as folder:
        copy = Path(folder) / "warehouse"
        shutil.copytree(warehouse, copy)
        tell(f"$ moldau cycle --cluster {CLUSTER} --at {format_instant(at_ms)}")
        decide(session, "cycle", [CLUSTER], at_ms, is_dry_run=False)
        tell(
            f'$ dbt run --selector cycle --vars "{told}"\n'
            "  on a copy of the warehouse; Java starts, which takes a minute on a small machine ..."
        )
        tell(_said(copy, told))
        tell(_verdict(warehouse, copy))


def _said(warehouse: Path, told: str) -> str:
    """Run dbt; gives what it said of moldau's run. MoldauError with its last words if it fails."""
    words = [
        "run", "--selector", "cycle", "--vars", told, "--target", "spark",
        "--project-dir", str(ROOT), "--profiles-dir", str(PROFILES),
        "--target-path", str(warehouse.parent / "target"),
        "--log-path", str(warehouse.parent / "logs"), "--no-use-colors",
    ]  # fmt: skip
    # Spark here: a server has the warehouse open of which this is a copy
    here = {name: value for name, value in os.environ.items() if name not in _REMOTE}
    ended = subprocess.run(
        [sys.executable, "-c", _DBT, *words],
        cwd=warehouse,  # where its moldau.yml lies
        env=here | {"MOLDAU_WAREHOUSE": str(warehouse)},
        capture_output=True,
        text=True,
    )
    lines = ended.stdout.splitlines()
    if ended.returncode:
        raise MoldauError("\n".join(["dbt failed:", *lines[-20:]]))
    return "\n".join(f"  {line.split('moldau: ')[1]}" for line in lines if "moldau: " in line)


def _verdict(one: Path, other: Path) -> str:
    tables = _compared(one)
    rows = {name: _rows(one, name) for name in tables}
    different = [name for name in tables if rows[name] != _rows(other, name)]
    if different:
        return f"  These tables differ: {', '.join(different)}"
    return (
        f"  All {len(tables)} tables of {', '.join(COMPARED)} are equal, "
        f"{sum(map(len, rows.values())):,} rows."
    )


def _compared(warehouse: Path) -> list[str]:
    """The tables that are there, but for the runs: each has its own instants."""
    from moldau.reading.tables.names_of import existing_tables

    names = (name for name in existing_tables(warehouse) if name.split(".")[0] in COMPARED)
    return sorted(name for name in names if name != "state.runs")


def _rows(warehouse: Path, table: str) -> list[Any]:
    return sorted(map(repr, ask(warehouse, f"select * from {table}")))
