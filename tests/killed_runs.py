"""Kill `dbt run --selector cycle` at each named point and at random instants; the next run ends it.

Each time a copy of one loaded warehouse: the run is killed with its JVM, the next is one of
`moldau` or of dbt, by turns. Then every table is that of a warehouse where nothing was killed, so
no clear was made twice and no call was lost.

    python tests/killed_runs.py [--instants 10] [--seed N]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "python"))

from shell_support import without_settings
from whole_runs import AT, COMPARED, DBT, LOADS, MOLDAU, YML, rows_of, run, words

from moldau.engines.spark.spark_session import BRIEF_OPTIONS
from moldau.project import SAMPLES
from moldau.sessions import journal
from moldau.sessions.faults import POINTS, VARIABLE
from moldau.warehouse.delta_log import newest_version

CYCLE = ("cycle", "--at", AT)


def killed_at(folder: Path, warehouse: Path, point: str) -> str:
    """A point that the run has not is passed; the rest is killed there."""
    ended = run(folder, warehouse, DBT, *words(folder, "cycle"), **{VARIABLE: point})
    return "killed" if ended.code == -signal.SIGKILL else f"ended with {ended.code}"


def killed_after(folder: Path, warehouse: Path, seconds: float) -> str:
    told = {"MOLDAU_WAREHOUSE": str(warehouse), "MOLDAU_JAVA_OPTIONS": BRIEF_OPTIONS}
    path = {"PYTHONPATH": os.pathsep.join(sys.path)}
    program = [sys.executable, "-c", DBT, *words(folder, "cycle")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(
        program, cwd=folder, env=without_settings() | told | path, start_new_session=True, **quiet
    ) as process:
        try:
            return f"ended with {process.wait(seconds)}"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return "killed"


def finish(folder: Path, warehouse: Path, by_dbt: bool) -> None:
    program = (DBT, *words(folder, "cycle")) if by_dbt else (MOLDAU, *CYCLE)
    ended = run(folder, warehouse, *program)
    if ended.code not in ((0,) if by_dbt else (0, 2)):  # of dbt 2 is that it did nothing
        raise SystemExit(f"{warehouse.name}: {ended.said[-3000:]}")


def has_runs(warehouse: Path, loaded: Path) -> bool:
    """Whether a run was begun there, or has ended."""
    then, now = (newest_version(folder / "state" / "runs") for folder in (loaded, warehouse))
    return now > then or bool(journal.interrupted(warehouse))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instants", type=int, default=10)
    parser.add_argument("--seed", type=int, default=36)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="killed-"))
    (folder / "moldau.yml").write_text(YML)
    (folder / "loads").write_text("".join(f"load {SAMPLES}/{load}\n" for load in LOADS))
    loaded, undisturbed = folder / "loaded", folder / "undisturbed"
    assert run(folder, loaded, MOLDAU, "exec", "loads").code == 0
    shutil.copytree(loaded, undisturbed)
    began = time.monotonic()
    finish(folder, undisturbed, by_dbt=True)
    whole = time.monotonic() - began
    finish(folder, undisturbed, by_dbt=False)
    expected = {name: rows_of(undisturbed, name) for name in COMPARED}
    assert expected["history.plugin_calls"]
    assert expected["history.epoch_clears"]

    kills: dict[str, Callable[[Path], str]] = {
        point: partial(killed_at, folder, point=point) for point in POINTS
    }
    chance = random.Random(asked.seed)
    for _ in range(asked.instants):
        seconds = chance.uniform(0.3, 1) * whole
        name = f"after {seconds:.1f} s of {whole:.1f}"
        kills[name] = partial(killed_after, folder, seconds=seconds)
    wrong = 0
    for number, (name, kill) in enumerate(kills.items()):
        warehouse = folder / f"killed-{number}"
        shutil.copytree(loaded, warehouse)
        how = kill(warehouse)
        has_begun = has_runs(warehouse, loaded)
        finish(folder, warehouse, by_dbt=bool(number % 2))
        if not has_begun:  # nothing was to be finished: that was the first run, as dbt's is above
            how += " before its run began"
            finish(folder, warehouse, by_dbt=False)
        different = [name for name in COMPARED if rows_of(warehouse, name) != expected[name]]
        wrong += len(different)
        print(f"{name}: {how}; different: {', '.join(different) or 'none'}", flush=True)
        shutil.rmtree(warehouse)
    shutil.rmtree(folder)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
