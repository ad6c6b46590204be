"""Which tables and marts a statement may mean: those, and few others, are opened for it."""

from __future__ import annotations

import pytest

from moldau.reading.tables.names_of import mentioned

NAMES = ["state.groups", "state.runs", "seeds.reason_codes", "marts.groups", "marts.decisions"]
RUNS, ALL = ["state.runs"], NAMES


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select * from state.runs order by run_id desc limit 1", RUNS),
        ("select * from state.runs\norder by run_id\ndesc\nlimit 1", RUNS),
        ("(select * from state.runs order by run_id desc)", RUNS),
        ("select 'shown' from STATE.Runs", RUNS),
        ("describe state.runs", RUNS),
        ("desc extended state.runs", RUNS),
        ("show columns in state.runs", RUNS),
        ("select * from state.groups", ["state.groups"]),
        ("select * from marts.groups", ["state.groups", "marts.groups"]),
        ("show functions", []),
        ("show tables", ALL),
        ("SHOW ALL TABLES", ALL),
        ("show views", ALL),
        ("describe", ALL),
        ("desc;", ALL),
        ("from (describe)", ALL),
        ("describe tables", ALL),
        ("select * from information_schema.tables where table_schema <> 'seeds'", ALL),
        ("from duckdb_tables()", ALL),
        ("pragma show_tables", ALL),
        ("show tables in state", ["state.groups", "state.runs"]),
        ("show table extended in seeds like '*'", ["seeds.reason_codes"]),
        ("show views from marts", ["marts.groups", "marts.decisions"]),
        ("show tables from memory", ALL),
        ("describe -- all", ALL),
        ("from (desc /* all */)", ALL),
        ("select '--', * from (describe)", ALL),
        ("desc all", ALL),
        ("/* these */ desc", ALL),
        ("with a as materialized(/**/desc) from a", ALL),
        ("select * from (show tables from seeds), (show tables)", ALL),
        ("show databases", ["state.groups", "seeds.reason_codes", "marts.groups"]),
        ("describe schema seeds", ["state.groups", "seeds.reason_codes", "marts.groups"]),
        ("describe /**/ namespace seeds", ["state.groups", "seeds.reason_codes", "marts.groups"]),
        ("show functions in seeds", ["state.groups", "seeds.reason_codes", "marts.groups"]),
    ],
)
def test_a_statement_means_what_it_names_or_lists(sql: str, expected: list[str]) -> None:
    assert mentioned(NAMES, sql) == expected
