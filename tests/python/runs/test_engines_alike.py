"""What runs about groups write is the same from Spark and from DuckDB, and what verbs cost.

What is loaded by Spark here is loaded so in no other story; see `test_three_writers` for the
samples of every domain.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from log_support import Log, middle_log, part_of_group
from pyspark import SparkContext
from replayed_groups import REPLAYED, replay_of
from spark_support import (
    Record,
    commits,
    fold_records,
    in_spark,
    plans,
    read_capture,
    read_records,
    statements,
)
from tables_alike import tables_in, written

from moldau.project import SAMPLES
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.contracts import tables

pytestmark = pytest.mark.spark

ENGINES = ("auto", "spark")
HOUR_MS = 3_600_000
CUT_MS = 1_795_247_782_363  # 2026-11-21T07:56:22.363Z, where the sample of `west` is cut
RECORDS = "__consumer_offsets.jsonl"
LISTED = [
    {
        "group_id": f"listed {number}", "group_type": kind, "group_state": "STABLE",
        "protocol_type": "consumer", "coordinator_id": 1, "is_simple": False,
        "taken_at_ms": CUT_MS,
    }
    for number, kind in enumerate(("classic", "consumer", "share", "streams"))
]  # fmt: skip


def settings_text(folder: Path) -> str:
    clusters, flows = "", ""
    for engine in ENGINES:
        plugin = f"plugin: {{name: directory, path: {folder}/held-{engine}}}"
        charged = f"{{authority: moldau, {plugin}, ruleset: {{groups: kafka_4_4}}"
        clusters += (
            f"  watched-{engine}: {{offsets.retention.minutes: 1}}\n"
            f"  charged-{engine}: {charged}, offsets.retention.minutes: 1}}\n"
            f"  asked-{engine}: {charged}}}\n"
        )
        flows += f"  followed-{engine}: {{source: watched-{engine}, target: other-{engine}}}\n"
    return f"clusters:\n{clusters}flows:\n{flows}"


@dataclass
class Told:
    """`counts` of the runs, `notes` of loads of records.

    `costs`: of verbs commits, statements, views made, views and nodes in the plans that Spark has
    analysed, and its jobs.
    """

    counts: list[dict[str, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    costs: dict[str, tuple[int, ...]] = field(default_factory=dict)


def tell(embedded: Session, session: Session, engine: str, folder: Path) -> Told:
    """Loads and runs of the session, on clusters of the engine's own."""
    told = Told()

    def bring(name: str, kind: str, *files: str | Path, by: Session = session) -> None:
        loaded = load(by, [SAMPLES / file for file in files], f"{name}-{engine}", kind)
        if kind == "records":
            told.notes.extend(note.replace(f"-{engine}", "") for note in loaded.notes)

    def run(kind: str, at_ms: int, *names: str, is_dry_run: bool = False) -> None:
        clusters = [f"{name}-{engine}" for name in names]
        told.counts.append(decide(session, kind, clusters, at_ms, is_dry_run).counts)

    @contextlib.contextmanager
    def counted(name: str) -> Iterator[None]:
        before, jobs_before = commits(session.warehouse), jobs()
        with statements() as given, plans() as analysed:
            yield
        views = sum("create or replace view" in one for one in given)
        views_read = sum(len(re.findall(r"\bView \(", plan)) for plan in analysed)
        nodes = sum(len(plan.splitlines()) for plan in analysed)
        made = commits(session.warehouse) - before
        costs = (made, len(given), views, views_read, nodes, jobs() - jobs_before)
        told.costs[name] = costs

    # an export that begins in the middle says so, until the groups that are missing come
    middle = middle_log(partition=98)
    begin = written_to(folder / "middle.jsonl", middle.records)
    known = len(middle.records)
    middle.add(middle.group_key("part 05", 3), None)
    for group in ("part 05", "part 06"):
        middle.add(part_of_group(8, group), b"\0\x63")
    later = written_to(folder / "middle.later.jsonl", middle.records[known:])
    bring("watched", "records", f"west/{RECORDS}", begin)
    bring("watched", "open_transactions", "west/open_transactions.jsonl", by=embedded)
    bring("watched", "group_listings", written_as(folder / "listed.jsonl", LISTED))
    bring("watched", "group_listings", written_as(folder / "listed.later.jsonl", LISTED[1:]))
    log = Log(partition=99)  # the capture has groups on the others
    log.streams("eligible", stored=3)
    capture = read_capture("cleanup-inmemory")
    several = {
        "charged": [*capture, *log.records],
        "asked": read_records(SAMPLES / "east" / RECORDS),
        "replayed": [record for case in REPLAYED.values() for record in replay_of(case)],
    }
    with counted("fold"):
        fold_records(session, {f"{name}-{engine}": records for name, records in several.items()})
    run("cycle", CUT_MS, "charged", "replayed")
    run("sweep", CUT_MS + 200 * HOUR_MS, "charged", "replayed")
    with counted("cycle"):
        run("cycle", CUT_MS, "watched", is_dry_run=True)
    with counted("sweep"):
        run("sweep", CUT_MS, "watched", is_dry_run=True)
    with counted("load"):
        bring("watched", "records", "west/__consumer_offsets.later.jsonl", later)
    for kind in ("heartbeats", "topology_pushes", "group_deletions"):
        bring("asked", kind, f"requests/{kind}.jsonl", by=embedded)
    run("requests", CUT_MS, "asked")
    for kind in ("partition_states", "local_segments"):
        bring("tiered", kind, f"tiers/{kind}.jsonl")
    return told


def written_to(file: Path, records: Sequence[Record]) -> Path:
    return written_as(file, [record.as_line() for record in records])


def written_as(file: Path, lines: Sequence[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def jobs() -> int:
    """That Spark has begun in this process."""
    context = SparkContext._active_spark_context
    if context is None:
        return 0
    context._jsc.sc().listenerBus().waitUntilEmpty()
    return max(context.statusTracker().getJobIdsForGroup(), default=-1) + 1


@pytest.fixture(scope="module")
def told(session: Session, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    folder = tmp_path_factory.mktemp("alike")
    config = folder / "moldau.yml"
    config.write_text(settings_text(folder))
    ours = Session(load_settings(config, session.warehouse), session.warehouse, session.engines)
    found = {}
    for engine in ENGINES:
        with statements() as given:
            own = ours if engine == "auto" else in_spark(ours)
            found[engine] = tell(ours, own, engine, folder)
        is_of_dbt = any('"app": "dbt"' in statement for statement in given)
        assert is_of_dbt is (engine == "spark")
    return found


def written_by(session: Session, engine: str, table: str) -> list[str]:
    return written(session.warehouse, table, f"%-{engine}", f"-{engine}")


@pytest.mark.parametrize("table", tables_in("state", "decisions", "history"))
def test_both_write_the_same_rows(told: dict[str, Told], session: Session, table: str) -> None:
    of_duckdb, of_spark = (written_by(session, engine, table) for engine in ENGINES)
    assert of_duckdb == of_spark


def test_the_runs_count_the_same(told: dict[str, Told]) -> None:
    assert told["auto"].counts == told["spark"].counts


def test_the_loads_note_the_same(told: dict[str, Told]) -> None:
    assert told["auto"].notes == told["spark"].notes
    assert sum("does not begin at the start" in note for note in told["auto"].notes) == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_verbs_cost_few_commits_statements_views_plan_nodes_and_jobs(
    told: dict[str, Told], engine: str
) -> None:
    """A dry run of a cycle and of a sweep, a fold of clusters that no flow is of, and a load of
    records whose commits one looks at."""
    bounds = {
        "cycle": (3, 30, 4, 17, 560, 60),
        "sweep": (4, 35, 4, 24, 740, 85),
        "fold": (5, 55, 8, 32, 700, 90),
        "load": (6, 60, 12, 85, 2000, 150),
    }
    costs = told[engine].costs
    assert costs.keys() == bounds.keys()
    for name, bound in bounds.items():
        assert all(made <= most for made, most in zip(costs[name], bound, strict=True)), costs


def test_the_story_fills_the_tables_of_groups(told: dict[str, Told], session: Session) -> None:
    filled = {name for name in tables() if written_by(session, "auto", name)}
    assert {
        "decisions.cleanup_eligibility", "decisions.group_sweeps", "decisions.offset_expirations",
        "decisions.heartbeat_gates", "decisions.topology_push_results",
        "decisions.group_deletion_results", "history.plugin_calls", "history.tombstones",
        "history.epoch_clears", "state.group_listings", "state.partition_states",
        "state.local_segments", "state.source_topics",
    } <= filled  # fmt: skip
