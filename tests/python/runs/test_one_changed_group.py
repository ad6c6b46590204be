"""What a run does about one changed group does not follow how many others there are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from log_support import Log

from moldau.engines.duckdb import delta_views
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse import files
from moldau.warehouse.paths import DECIDED

AT_MS = 1_800_000_000_000
FEW, MANY = 60, 600


class Work:
    """Of one verb: files that were looked at and rows that were written, by table."""

    def __init__(self, warehouse: Path, patch: pytest.MonkeyPatch) -> None:
        self._warehouse, self._before = warehouse, set(warehouse.glob("*/*/_delta_log/*.json"))
        self.looked_at: Counter[str] = Counter()
        plain = delta_views._read_parquet

        def noting(paths: list[str], *words: Any, **more: Any) -> str:
            for path in paths:
                self.looked_at[".".join(Path(path).parts[-3:-1])] += 1
            return plain(paths, *words, **more)

        patch.setattr(delta_views, "_read_parquet", noting)

    def rows_written(self) -> Counter[str]:
        rows: Counter[str] = Counter()
        for log in set(self._warehouse.glob("*/*/_delta_log/*.json")) - self._before:
            for line in log.read_text().splitlines():
                if add := json.loads(line).get("add"):
                    told = json.loads(add["stats"])["numRecords"]
                    rows[".".join(log.parts[-4:-2])] += told
        return rows


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has thirty rows, in place of some ten thousand."""
    monkeypatch.setattr(files, "_FILE_ROWS", 30)
    monkeypatch.setattr(files, "_FEW_ROWS_IN_GROUP", 10)


def fold(session: Session, log: Log, groups: Sequence[str]) -> None:
    """A load of one commit of each of these groups."""
    for group in groups:
        log.commit(group, at_ms=AT_MS)
    file = session.warehouse.parent / "records.jsonl"
    brought = log.records[-len(groups) :]
    file.write_text("".join(json.dumps(one.as_line()) + "\n" for one in brought))
    load(session, [file], "c", "records")


def with_groups(folder: Path, groups: int, then: Callable[[Session, Log], None]) -> None:
    """A session on a warehouse in which these groups are decided."""
    log = Log()
    with open_session(load_settings(None, folder / "w"), "pytest") as session:
        # threads that take turns would leave the first decisions in ranges that overlap
        session.engines.duckdb._connection.execute("set threads = 1")
        fold(session, log, [f"g{number:05d}" for number in range(groups)])
        for kind in ("sweep", "cycle"):
            decide(session, kind, ["c"], AT_MS, is_dry_run=False)
        then(session, log)


def test_files_looked_at_and_rows_written_are_those_of_the_group(
    tmp_path: Path, few_rows: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[int, dict[str, tuple[Counter[str], Counter[str]]]] = {FEW: {}, MANY: {}}

    def measure(session: Session, log: Log) -> None:
        groups = FEW if len(found[FEW]) < 3 else MANY
        for number in range(2):  # the first leaves views for the second
            group = f"g{groups // 2 + number:05d}"
            verbs: dict[str, Callable[[], Any]] = {
                "load": lambda group=group: fold(session, log, [group]),
                "sweep": lambda: decide(session, "sweep", ["c"], AT_MS, is_dry_run=False),
                "cycle": lambda: decide(session, "cycle", ["c"], AT_MS, is_dry_run=False),
            }
            for name, verb in verbs.items():
                with monkeypatch.context() as patch:
                    work = Work(session.warehouse, patch)
                    verb()
                found[groups][name] = (work.looked_at, work.rows_written())

    for groups in (FEW, MANY):
        with_groups(tmp_path / str(groups), groups, measure)
    for verb, (looked_at, written) in found[MANY].items():
        few_looked_at, few_written = found[FEW][verb]
        for table, count in looked_at.items():
            assert count <= few_looked_at[table] + 2, (verb, table)
        for table, rows in written.items():
            assert rows <= max(few_written[table], 30), (verb, table)


def test_without_its_notes_a_run_decides_the_same(tmp_path: Path, few_rows: None) -> None:
    def spoil(note: Path, how: str) -> None:
        told = json.loads(note.read_text())
        match how:
            case "torn":
                note.write_text('{"version": 1, "comm')
            case "of another version":
                note.write_text(json.dumps(told | {"version": 99}))
            case "gone":
                note.unlink()
            case "of other commits":
                note.write_text(json.dumps(told | {"commit": [told["commit"][0], 1]}))

    def go_on(session: Session, log: Log) -> None:
        notes = [
            session.warehouse / DECIDED / f"decisions.{name}.json"
            for name in ("cleanup_eligibility", "group_sweeps", "offset_expirations")
        ]
        for how in ("whole", "torn", "of another version", "gone", "of other commits"):
            before = decide(session, "cycle", ["c"], AT_MS, is_dry_run=False).counts
            fold(session, log, ["g00007", f"new, {how}"])
            for note in notes:
                spoil(note, how)
            swept = decide(session, "sweep", ["c"], AT_MS, is_dry_run=False).counts
            cleaned = decide(session, "cycle", ["c"], AT_MS, is_dry_run=False).counts
            assert swept["decided"] == 4, "two groups, and an offset of each"
            groups = before["not_eligible"] + 1
            assert swept == {"decided": 4, "keep": groups, "offsets_keep": groups}
            assert cleaned == {"decided": 2, "not_eligible": groups}

    with_groups(tmp_path, FEW, go_on)


def test_what_is_stale_is_decided_wherever_it_lies(tmp_path: Path, few_rows: None) -> None:
    def go_on(session: Session, log: Log) -> None:
        def decided(at_ms: int) -> int:
            return decide(session, "sweep", ["c"], at_ms, is_dry_run=False).counts["decided"]

        all_of_them = 2 * FEW  # groups, and an offset of each
        fold(session, log, ["g00007"])
        assert decided(AT_MS) == 2
        assert decided(AT_MS - 1) == all_of_them, "the clock was set back"
        assert decided(AT_MS) == 0
        assert decided(AT_MS + 7 * 86_400_000) == all_of_them, "their time has come"
        (tmp_path / "moldau.yml").write_text("clusters: {c: {offsets.retention.minutes: 1}}")
        session.settings = load_settings(tmp_path / "moldau.yml", session.warehouse)
        assert decided(AT_MS + 7 * 86_400_000) == all_of_them, "settings are others"

    with_groups(tmp_path, FEW, go_on)


def test_a_record_without_a_group_hides_none_of_many_changed_ones(tmp_path: Path) -> None:
    """As many groups as are looked for one by one, and more, beside a row without a group."""
    with open_session(load_settings(None, tmp_path / "w"), "pytest") as session:
        engine, key = session.engines.duckdb, ("cluster_id", "group_id")
        table = "create or replace view staging.stg_run__records as "
        for groups, looked_for in ((64, None), (63, 63), (65, None)):
            named = f"select 'c' as cluster_id, 'g' || range as group_id from range({groups})"
            engine._connection.execute(f"{table} select 'c' as cluster_id, null as group_id "
                                       f"union all {named}")  # fmt: skip
            found = engine._keys("stg_run__records", key)
            assert (found if found is None else len(found)) == looked_for
