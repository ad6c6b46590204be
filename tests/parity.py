"""`make parity`: one random history written by DuckDB, by Spark through `moldau`, by plain dbt.

The samples of every domain are cut into slices; steps load them, decide and apply at instants that
rise, and some are killed at a point of theirs, for whatever comes next to finish. Then every table
of the three warehouses is compared, and every mart.

    python tests/parity.py [--seed N] [--steps N] [--folder F]
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "python"))

from tables_alike import OF_THE_RUN
from whole_runs import COMPARED, DBT, KINDS, LOADS, MOLDAU, YML, rows_of, run, words

from moldau.engines.spark.spark_session import BRIEF_OPTIONS
from moldau.project import SAMPLES
from moldau.reading.tables.query import query
from moldau.sessions.faults import POINTS, VARIABLE
from moldau.warehouse.contracts import marts

INSTANTS = ("2026-11-21T07:56:00Z", "2026-11-27T09:13:54Z", "2026-12-24T00:00:00Z")
READ_AT_MS = 1_800_000_000_000  # of the marts
DBTS = """
import json, sys
from dbt.cli.main import dbtRunner
for words in json.loads(sys.argv[1]):
    outcome = dbtRunner().invoke(words)
    assert outcome.success, outcome.exception or [r.message for r in outcome.result.results]
"""
# of the whole warehouse: bytes, versions, and when and by what each run was made
OF_THE_WAREHOUSE = ("marts.last_run", "marts.table_status")


@dataclass(frozen=True)
class Step:
    """`typed`: a load as moldau takes it, or the kind of a run; `fault`: where it is killed."""

    typed: str
    at: str = ""
    fault: str = ""

    @property
    def is_run(self) -> bool:
        return bool(self.at)


def history(chance: random.Random, steps: int, folder: Path) -> list[Step]:
    """Loads of all slices in their files' order, and runs between."""
    waiting = [list(slices(chance, load, folder)) for load in LOADS]
    found: list[Step] = []
    while any(waiting) or len(found) < steps:
        files = [file for file in waiting if file]
        fault = chance.choice(POINTS) if chance.random() < 0.25 else ""
        if files and chance.random() < 0.6:
            found.append(Step(chance.choice(files).pop(0), fault=fault))
        elif found:
            instant = INSTANTS[min(len(found) * len(INSTANTS) // steps, len(INSTANTS) - 1)]
            found.append(Step(chance.choice(KINDS), instant, fault))
    return [*found, *(Step(kind, INSTANTS[-1]) for kind in KINDS)]


def slices(chance: random.Random, load: str, folder: Path) -> Iterator[str]:
    name, options = load.split(" ", 1)
    lines = (SAMPLES / name).read_text().splitlines(keepends=True)
    cuts = sorted(chance.sample(range(1, len(lines)), min(chance.randrange(3), len(lines) - 1)))
    for index, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(lines)], strict=True)):
        part = folder / f"{name.replace('/', '-')}.{index}.jsonl"
        part.write_text("".join(lines[begin:end]))
        yield f"{part} {options}"


class Writer:
    """Takes the steps of a history in processes of its own; `by_dbt`: runs are those of dbt."""

    def __init__(self, folder: Path, name: str, engine: str, by_dbt: bool = False) -> None:
        self.folder = folder / name
        self.warehouse = self.folder / "w"
        self.engine, self.by_dbt = engine, by_dbt
        self.folder.mkdir()
        (self.folder / "moldau.yml").write_text(YML)

    def write(self, steps: Sequence[Step]) -> None:
        """What is not killed goes on in one process as long as its kind stays."""

        def together(numbered: tuple[int, Step]) -> tuple[object, ...]:
            number, step = numbered
            return (number,) if step.fault else ("", self.by_dbt and step.is_run)

        for _, some in groupby(enumerate(steps), together):
            self._take([step for _, step in some])

    def _take(self, steps: Sequence[Step]) -> None:
        fault = steps[0].fault
        if self.by_dbt and steps[0].is_run:
            lists = [words(self.folder, step.typed, at=step.at) for step in steps]
            program = (DBT, *lists[0]) if fault else (DBTS, json.dumps(lists))
        else:
            lines = [f"{' '.join(self._verb(step))}\n" for step in steps]
            (self.folder / "verbs").write_text("".join(lines))
            program = (MOLDAU, "exec", str(self.folder / "verbs"), "--engine", self.engine)
        variables = {"MOLDAU_JAVA_OPTIONS": BRIEF_OPTIONS} | ({VARIABLE: fault} if fault else {})
        ended = run(self.folder, self.warehouse, *program, **variables)
        # 2: a plugin call failed; a kill at a point that this step has not leaves it whole
        allowed = (0, 2, -9) if fault else (0, 2)
        if ended.code not in allowed:
            raise SystemExit(f"{self.folder.name}: {steps}\n{ended.said[-3000:]}")

    def _verb(self, step: Step) -> list[str]:
        return [step.typed, "--at", step.at] if step.is_run else ["load", *step.typed.split(" ")]


def marts_of(warehouse: Path, name: str) -> list[str]:
    """Its rows without what every run has of its own."""
    answer = query(warehouse, f"from {name}", READ_AT_MS)
    own = tuple(one.removesuffix("_ms") for one in OF_THE_RUN)
    kept = [
        i for i, column in enumerate(answer.columns) if not column.endswith((*OF_THE_RUN, *own))
    ]
    return sorted(repr([row[i] for i in kept]) for row in answer.rows)


def different(one: Path, other: Path) -> list[str]:
    tables = [name for name in COMPARED if rows_of(one, name) != rows_of(other, name)]
    read = [name for name in marts() if name not in OF_THE_WAREHOUSE]
    return tables + [name for name in read if marts_of(one, name) != marts_of(other, name)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=36)
    parser.add_argument("--steps", type=int, default=36)
    parser.add_argument("--folder", type=Path, help="kept, and emptied first")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="parity-"))
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "files").mkdir(parents=True)
    steps = history(random.Random(asked.seed), asked.steps, folder / "files")
    killed = sum(bool(step.fault) for step in steps)
    runs = sum(step.is_run for step in steps)
    print(f"seed {asked.seed}: {len(steps)} steps, {runs} of them runs, {killed} killed; {folder}")
    writers = (
        Writer(folder, "duckdb", "duckdb"),
        Writer(folder, "spark", "spark"),
        Writer(folder, "dbt", "duckdb", by_dbt=True),
    )
    for writer in writers:
        writer.write(steps)
        print(f"{writer.folder.name}: written", flush=True)
    wrong = 0
    for writer in writers[1:]:
        found = different(writers[0].warehouse, writer.warehouse)
        wrong += len(found)
        rows = sum(len(rows_of(writer.warehouse, name)) for name in COMPARED)
        print(f"{writer.folder.name}: {rows} rows; different: {', '.join(found) or 'none'}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
