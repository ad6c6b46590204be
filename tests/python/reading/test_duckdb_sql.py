"""What sqlglot leaves out of Spark's SQL, on values that DuckDB answers about."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from moldau.engines.duckdb.translation import (
    ANSWERS,
    MACROS,
    calls_in_duckdb,
    to_duckdb,
    with_answers,
)

# asked of Spark in test_spark_sql.py, too
EDGES = {
    "ceil(1.2e22D), floor(-1e30D), ceil(-1.5D)": [(2**63 - 1, -(2**63), -1)],
    "count_if(cast(null as boolean)), count_if(1 > 0)": [(0, 1)],
    "split_part('a___b', '__', -1), split_part('a__b__c', '__', 1)": [("_b", "a")],
    **{
        rf"concat('a', '{end}', 'b') rlike '\\A(?:.*)\\z'": [(is_like,)]
        for end, is_like in {
            "x": True, "\u2028": False, "\u2029": False, "\u0085": False,
            "\\r": False, "\\n": False,
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("spark", "expected"),
    [
        *EDGES.items(),
        ("inline(array(struct(1 as a, 2 as b))) as (x, y)", [(1, 2)]),
        (
            "inline(transform(array(5, 6), (e, i) -> struct(e as a, i as b))) as (x, y)",
            [(5, 0), (6, 1)],
        ),
        ("explode(map('k', 1, 'l', 2)) as (x, y)", [("k", 1), ("l", 2)]),
        ("posexplode(array('a', 'b')) as (i, e)", [(0, "a"), (1, "b")]),
        (
            "posexplode_outer(array(struct(7 as a))) as (i, e)",
            [(0, {"a": 7})],
        ),
        ("posexplode_outer(slice(array(1), 1, 0)) as (i, e)", [(None, None)]),
        ("filter(array(5, 6, 7), (e, i) -> i > 0)", [([6, 7],)]),
        ("transform(array(5, 6), (e, i) -> get(array(5, 6), i + 1))", [([6, None],)]),
        ("map_filter(map('a', 1, 'b', 2), (name, value) -> value > 1)", [({"b": 2},)]),
        ("""from_json('{"a": 1, "b": null}', 'map<string, string>')""", [({"a": "1", "b": None},)]),
        ("forall(array(1, 2), e -> e > 1), forall(array(2), e -> e > 1)", [(False, True)]),
        ("aggregate(array(1, 2), 0, (a, e) -> a + e, a -> a * 10)", [(30,)]),
        ("aggregate(array(1, 2), array(0), (a, e) -> array_append(a, e))", [([0, 1, 2],)]),
        ("array_repeat(struct(1 as a), 2), array_repeat(1, 0)", [([{"a": 1}] * 2, [])]),
        ("conv('fF', 16, 10), conv('', 16, 10)", [("255", None)]),
        ("try_add(9223372036854775807, 1), try_subtract(5, 3)", [(None, 2)]),
        ("9223372036854775807 + cast(1 as bigint), cast(1 as bigint) + 1 - 3 * 2", [(None, -4)]),
        ("get(array(1), 0), get(array(1), 1), array(4, 5)[1]", [(1, None, 5)]),
        ("slice(array(1, 2, 3, 4), 2, 2), slice(array(1), 2, 64)", [([2, 3], [])]),
        ("size(array(1)), size(cast(null as array<int>))", [(1, -1)]),
        ("floor(2.5D), ceil(2.5D)", [(2, 3)]),
        ("map_contains_key(map('a', 1), 'a'), map_contains_key(map('a', 1), 'b')", [(True, False)]),
        ("exists(array(1, 2), e -> e > 1), exists(array(1), e -> e > 1)", [(True, False)]),
        (
            "exists(array(1, null), e -> e > 1), exists(cast(array() as array<int>), e -> e > 1), "
            "exists(cast(null as array<int>), e -> e > 1), exists(array(null, 2), e -> e > 1)",
            [(None, False, None, True)],
        ),
        (
            "forall(array(2, null), e -> e > 1), forall(cast(array() as array<int>), e -> e > 1), "
            "forall(cast(null as array<int>), e -> e > 1), forall(array(null, 1), e -> e > 1)",
            [(None, True, None, False)],
        ),
    ],
)
def test_an_expression(spark: str, expected: list[tuple[object, ...]]) -> None:
    assert ask(f"select {spark}") == expected


def test_aggregates() -> None:
    values = "(values (1, 9223372036854775807), (2, 1), (null, 5)) as t (a, b)"
    asked = (
        "max_by(b, a), max_by(a, b), try_sum(b) filter (where true), "
        "try_sum(a) filter (where a > 1), bool_and(b > 0)"
    )
    assert ask(f"select {asked} from {values}") == [(1, 1, None, 2, True)]
    assert ask("select max_by(b, a) from (values (1, 3), (2, null)) as t (a, b)") == [(None,)]


def test_a_list_of_nothing_is_empty() -> None:
    values = "(values (1, 'x'), (null, 'x'), (2, 'y')) as t (a, b)"
    asked = "collect_list(a), collect_list(a) filter (where b = 'z')"
    assert ask(f"select {asked} from {values}") == [([1, 2], [])]
    assert ask(f"select sort_array(collect_set(a)) from {values} where b = 'z'") == [([],)]
    over = "collect_list(a) filter (where a > 1) over (partition by b)"
    assert ask(f"select b, {over} from {values} order by b, a") == [
        ("x", []),
        ("x", []),
        ("y", [2]),
    ]


def test_a_file_of_parquet_is_a_relation(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    for number in (1, 2):
        pq.write_table(pa.table({"n": [number]}), folder / f"{number}.parquet")
    assert ask(f"select n from parquet.`{folder}` order by n") == [(1,), (2,)]
    assert ask(f"select t.n from parquet.`{folder}/2.parquet` as t") == [(2,)]


def test_the_calls_of_a_model_and_the_model_on_their_answers() -> None:
    model = """
        with of_the_slice as (select 1 as call_id, 0 as slice_index),
        made as (
            select made.call_id, made.outcome
            from call_plugin(table(of_the_slice) partition by slice_index) as made
        )
        select * from made
    """
    calls = calls_in_duckdb(model)
    assert calls is not None
    assert duckdb.sql(calls).fetchall() == [(1, 0)]
    answers = "(select 1 as call_id, 'x' as outcome)"
    answered = to_duckdb(with_answers(model)).replace(ANSWERS, answers)
    assert duckdb.sql(answered).fetchall() == [(1, "x")]
    assert calls_in_duckdb("select 1") is None


def test_a_percentile_is_one_of_the_values() -> None:
    asked = "percentile_approx(a, 0.5), percentile_approx(a, 0.99)"
    assert ask(f"select {asked} from (values (10), (1), (null), (4), (7)) as t (a)") == [(4, 10)]


def test_times_are_in_utc() -> None:
    [(moment,)] = ask("select timestamp_millis(1795247998738)")
    assert str(moment) == "2026-11-21 07:59:58.738000+00:00"


def test_a_hint_to_spark_is_left_out() -> None:
    assert ask("select /*+ merge(t) */ a from (values (1)) as t (a)") == [(1,)]


def ask(spark_sql: str) -> list[tuple[object, ...]]:
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    for macro in MACROS:
        connection.execute(macro)
    return connection.execute(to_duckdb(spark_sql)).fetchall()
