"""Few rows of a mart of groups are found in the first groups, and are the same as without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rows_support import Write

from moldau.reading.tables import query
from moldau.reading.tables.query import table_rows
from moldau.warehouse.contracts import tables

GROUPS = [f"group-{number:03}" for number in range(300)]
MARTS = (
    "marts.groups", "marts.cleanup_preview", "marts.group_offsets", "marts.group_lag",
    "marts.decisions",
)  # fmt: skip
DECISIONS = [name for name, table in tables().items() if table.database == "decisions"]


@pytest.fixture
def filled(warehouse: Path, write: Write, write_empty: Callable[..., None]) -> Path:
    """Of `east` every third group is deleted and has no row in two of the marts."""
    write_empty(*MARTS)
    common = {"group_type": "classic", "changed_in_run_id": "00000001-load"}
    groups = [("east", name, number % 3 == 0) for number, name in enumerate(GROUPS)]
    groups += [("west", name, False) for name in GROUPS[:5]]
    write(
        "state.groups",
        *(
            common
            | {
                "cluster_id": cluster,
                "group_id": name,
                "is_deleted": is_deleted,
                "group_state": "DEAD" if is_deleted else "EMPTY",
            }
            for cluster, name, is_deleted in groups
        ),
    )
    for table in ("state.group_offsets", *DECISIONS):
        alive = [(cluster, name) for cluster, name, is_deleted in groups if not is_deleted]
        write(table, *(row_about(table, *one) for one in alive))
    return warehouse


def row_about(table: str, cluster: str, name: str) -> dict[str, object]:
    """A row of a table of offsets or decisions."""
    ids = dict.fromkeys(("group_id", "request_id", "topic_id", "segment_id"), name)
    row = {"cluster_id": cluster, "topic_name": "t", "commit_at_ms": 1, **ids}
    return {c.name: row[c.name] for c in tables()[table].columns if c.name in row}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that DuckDB is given."""
    given: list[str] = []
    plain = query.run

    def noted(connection: object, sql: str, *rest: object) -> object:
        given.append(sql)
        return plain(connection, sql, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(query, "run", noted)
    return given


@pytest.mark.parametrize("mart", MARTS)
@pytest.mark.parametrize("where", [None, "group_id > 'group-010' -- and no more"])
def test_the_first_rows_are_those_of_all(
    filled: Path, asked: list[str], mart: str, where: str | None
) -> None:
    everything = list(table_rows(filled, mart, where).rows)
    asked.clear()
    assert list(table_rows(filled, mart, where, limit=7).rows) == everything[:7]
    assert "group_id <= 'group-128'" in asked[-1]


@pytest.mark.parametrize(
    ("where", "limit"), [(None, 250), ("cluster_id = 'west'", 3), ("group_id > 'group-290'", 4)]
)
def test_all_groups_are_asked_about_where_the_first_have_too_few(
    filled: Path, where: str | None, limit: int
) -> None:
    everything = list(table_rows(filled, "marts.cleanup_preview", where).rows)
    found = list(table_rows(filled, "marts.cleanup_preview", where, limit=limit).rows)
    assert found == everything[:limit]
    assert len(found) >= min(limit, 3)


def test_decisions_of_a_cluster_without_groups_come_before_those_of_the_first(
    filled: Path, write: Write
) -> None:
    table = "decisions.heartbeat_gates"
    write(table, row_about(table, "asia", "nobody"))
    everything = list(table_rows(filled, "marts.decisions").rows)
    found = list(table_rows(filled, "marts.decisions", limit=7).rows)
    assert found == everything[:7]
    assert found[0][1:3] == ("asia", "heartbeat nobody")


def test_no_row_is_wanted(filled: Path) -> None:
    answer = table_rows(filled, "marts.groups", limit=0)
    assert answer.columns[:2] == ("cluster_id", "group_id")
    assert list(answer.rows) == []
