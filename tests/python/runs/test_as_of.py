"""As of the instant of a run, groups are what that run decided, whatever came since."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

import pytest
from history_support import INSTANTS, by_moldau, history, opened
from log_support import Log
from spark_support import commits
from tables_alike import OF_THE_RUN
from whole_runs import YML

from moldau.errors import MoldauError
from moldau.escapes import named
from moldau.instants import parse_instant
from moldau.project import SAMPLES
from moldau.reading.explain.subjects import explained
from moldau.reading.explain.timeline import timeline
from moldau.reading.explain.timeline_words import head
from moldau.reading.tables.query import query, table_rows
from moldau.runs.as_of import SHOWN, About, as_of, require_groups
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.settings import load_settings
from moldau.warehouse.contracts import tables

SEED, STEPS = 5, 14
STATE = ("state.groups", "state.group_offsets", "state.group_records", "state.topology_backoffs")
DECIDED = {
    "requests": (),
    "cycle": ("decisions.cleanup_eligibility",),
    "sweep": ("decisions.offset_expirations", "decisions.group_sweeps"),
}
# what is asked about alone: few tables are read to make the first, all to make the last
ASKED = ("state.group_offsets", "state.groups", "decisions.cleanup_eligibility")
# a sweep notes in state when the group is due next; what was decided before stays as it was noted
LEFT_OUT = (*OF_THE_RUN, "next_due_at_ms", "decided_at_ms", "previous_decision",
            "previous_reason_code")  # fmt: skip


def contents(warehouse: Path, names: tuple[str, ...]) -> dict[str, list[str]]:
    found = {}
    for name in names:
        columns = [c.name for c in tables()[name].columns if not c.name.endswith(LEFT_OUT)]
        told = "where cluster_id in ('east', 'west')"
        rows = query(warehouse, f"select {', '.join(columns)} from {name} {told}").rows
        found[name] = sorted(map(repr, rows))
    return found


ALL = About()


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    (tmp_path / "moldau.yml").write_text(YML)
    return tmp_path / "w"


@contextlib.contextmanager
def moment(
    warehouse: Path,
    at_ms: int,
    about: About = ALL,
    asked: Collection[str] = SHOWN,
) -> Iterator[Path]:
    settings = load_settings(warehouse.parent / "moldau.yml", warehouse)
    with as_of(settings, at_ms, about, asked) as found:
        yield found.settings.warehouse


def test_a_moment_is_what_the_runs_of_then_left(warehouse: Path, tmp_path: Path) -> None:
    """Of a random history with kills, of a cluster that moldau is in charge of."""
    (tmp_path / "files").mkdir()
    steps = [
        step
        for step in history(SEED, STEPS, tmp_path / "files")
        if (step.typed in DECIDED if step.at else step.typed.split(" ")[2] in ("east", "west"))
    ]
    # the first instant lies among the records: its runs saw later ones, too
    _, second, last = INSTANTS
    assert {step.typed for step in steps if step.at == last} == DECIDED.keys()
    of_second: dict[str, list[str]] = {}
    with opened(warehouse) as session:
        for number, step in enumerate(steps):
            if step.at == last and not of_second and number:
                of_second = contents(warehouse, STATE)
            by_moldau(session, [step])
    names = (*STATE, *chain.from_iterable(DECIDED.values()))
    with moment(warehouse, parse_instant(last)) as then:
        assert contents(then, names) == contents(warehouse, names)
    with moment(warehouse, parse_instant(second)) as then:
        assert contents(then, STATE) == of_second
    whole = contents(warehouse, ASKED)
    for name in ASKED:
        with moment(warehouse, parse_instant(last), asked=[name]) as then:
            assert contents(then, (name,)) == {name: whole[name]}
            assert whole[name]


def test_a_group_alone_is_as_among_all(warehouse: Path) -> None:
    with opened(warehouse) as session:
        for file in ("__consumer_offsets.jsonl", "__consumer_offsets.later.jsonl"):
            load(session, [SAMPLES / "west" / file], "west", "records")
    at_ms = parse_instant("2026-11-21T07:56:20Z")
    names = ("state.groups", "state.group_offsets", *DECIDED["cycle"], *DECIDED["sweep"])
    with moment(warehouse, at_ms) as whole:
        among = contents(whole, names)
    for group_id in ("c-off", "c-live-off", "c-delete-off", "c-convert-off"):
        with moment(warehouse, at_ms, About("west", group_id)) as alone:
            found = contents(alone, names)
        mine = {
            name: [row for row in rows if repr(group_id) in row] for name, rows in among.items()
        }
        assert found == mine and found["state.groups"]


def test_where_moldau_is_not_in_charge_records_count_whenever_they_came(warehouse: Path) -> None:
    """A look ahead between two loads applies nothing, and hides nothing."""
    log = Log()
    with opened(warehouse) as session:
        for place in range(2):
            log.commit("g", at_ms=1_000 * (place + 1), offset=place)
            file = warehouse.parent / f"{place}.jsonl"
            file.write_text("".join(json.dumps(one.as_line()) + "\n" for one in log.records))
            load(session, [file], "tiered", "records")
            decide(session, "sweep", ["tiered"], 9_000, is_dry_run=False)
    for about in (ALL, About("tiered", "g")):
        with moment(warehouse, 5_000, about) as then:
            [offset] = table_rows(then, "state.group_offsets").as_dicts()
            assert offset["committed_offset"] == 1


def test_a_snapshot_that_was_emptied_since_is_empty_now(warehouse: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with opened(warehouse) as session:
        load(session, [SAMPLES / "west" / "__consumer_offsets.jsonl"], "west", "records")
        held = SAMPLES / "west" / "open_transactions.jsonl"
        load(session, [held], "west", "open_transactions")
        decide(session, "sweep", ["west"], parse_instant(INSTANTS[1]), is_dry_run=False)
        load(session, [empty], "west", "open_transactions")
    with moment(warehouse, parse_instant(INSTANTS[1])) as then:
        assert contents(then, ("state.open_transactions",))["state.open_transactions"] == []
        assert contents(then, STATE) == contents(warehouse, STATE)


@pytest.mark.parametrize("group_id", ['it\'s \\\\ "quoted"', "a\nb\0c \U0001f600 ", "", " "])
def test_a_group_may_be_called_anything(warehouse: Path, group_id: str) -> None:
    log = Log()
    for place in range(3):
        log.commit(group_id, at_ms=1_000 * (place + 1), offset=place)
    file = warehouse.parent / "odd.jsonl"
    file.write_text("".join(json.dumps(record.as_line()) + "\n" for record in log.records))
    with opened(warehouse) as session:
        load(session, [file], "west", "records")
    with moment(warehouse, 2_500, About("west", group_id)) as then:
        [offset] = table_rows(then, "marts.group_offsets").as_dicts()
        assert (offset["group_id"], offset["committed_offset"]) == (group_id, 1)
        words = explained(then, f"offset {group_id} t-0", "west").words
        assert words[0].startswith(f"Classic group {named(group_id)} in cluster west")
    told = timeline(warehouse, group_id, as_of_ms=2_500)
    assert head(told).startswith(f"Group {named(group_id)} in cluster west")
    assert [(row["event"], row["value_after"]) for row in told.events] == [
        ("FIRST_COMMIT", "0"), ("COMMITS", "1"),
    ]  # fmt: skip


def test_nothing_is_written_and_what_cannot_be_rebuilt_is_refused(warehouse: Path) -> None:
    with opened(warehouse) as session:
        load(session, [SAMPLES / "west" / "__consumer_offsets.jsonl"], "west", "records")
    before = commits(warehouse)
    with moment(warehouse, parse_instant("2026-11-21T07:55:00Z")) as then:
        assert contents(then, ("state.groups",)) == {"state.groups": []}
    assert commits(warehouse) == before
    assert require_groups(warehouse, "expiry_calendar") == "marts.expiry_calendar"
    for name in ("marts.tier_lag", "state.remote_segments", "marts.decisions", "marts.group_lag"):
        with pytest.raises(MoldauError, match="--as-of rebuilds groups"):
            require_groups(warehouse, name)


def test_what_is_decided_for_the_answer_alone_has_no_run_of_the_warehouse(warehouse: Path) -> None:
    with opened(warehouse) as session:
        load(session, [SAMPLES / "east" / "__consumer_offsets.jsonl"], "east", "records")
        decide(session, "sweep", ["east"], parse_instant("2026-12-25"), is_dry_run=False)
    with moment(warehouse, parse_instant("2026-11-23")) as then:
        ids = query(then, "select distinct run_id from decisions.group_sweeps").rows
        assert list(ids) == [("as-of-sweep",)]


def test_records_that_are_left_out_are_told(warehouse: Path, tmp_path: Path) -> None:
    """moldau decided for a later instant, and was in charge: what came after counts from then."""
    lines = (SAMPLES / "east" / "__consumer_offsets.jsonl").read_text().splitlines(keepends=True)
    parts = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    parts[0].write_text("".join(lines[:100]))
    parts[1].write_text("".join(lines[100:]))
    settings = load_settings(warehouse.parent / "moldau.yml", warehouse)
    with opened(warehouse) as session:
        load(session, [parts[0]], "east", "records")
        decide(session, "sweep", ["east"], parse_instant("2026-12-25"), is_dry_run=False)
        load(session, [parts[1]], "east", "records")
    with as_of(settings, parse_instant("2026-12-24"), About("east")) as found:
        assert f"{len(lines) - 100} records up to then came after run 00000002-sweep" in found.words
