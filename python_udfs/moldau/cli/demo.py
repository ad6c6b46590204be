"""`moldau demo`: the main job on a bundled capture of a real broker, as a story."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from moldau.cli.output import write_rows
from moldau.errors import MoldauError

AT_MS = 1_795_247_782_363  # 2026-11-21T07:56:22.363Z, where the sample of `west` is cut
MARKER = Path("_moldau") / "demo"


@click.command(name="demo")
@click.option(
    "--warehouse",
    type=click.Path(path_type=Path),
    default=Path("moldau-demo"),
    show_default=True,
    help="Folder for the demo's tables; an earlier demo in it is replaced.",
)
def demo(warehouse: Path) -> None:
    """Load the records of two real Kafka 4.4.0 brokers and see what their clean-up will do and why.

    \b
    Example:
      moldau demo
    """
    from moldau.loading.journal import load
    from moldau.project import SAMPLES
    from moldau.runs.decide import decide
    from moldau.runs.session import open_session
    from moldau.settings import load_settings

    _make_room(warehouse)
    settings = load_settings(SAMPLES / "moldau.yml", warehouse)
    east, west = SAMPLES / "east", SAMPLES / "west"
    _tell(
        "Two Kafka 4.4.0 brokers, `east` and `west`, and their topic __consumer_offsets.\n"
        "Starting Spark and creating the warehouse ..."
    )
    with open_session(settings, "moldau demo") as session:
        (session.warehouse / MARKER).touch()
        for files, cluster, kind in (
            ([east / "__consumer_offsets.jsonl"], "east", "records"),
            ([west / "__consumer_offsets.jsonl"], "west", "records"),
            ([west / "open_transactions.jsonl"], "west", "open_transactions"),
        ):
            loaded = load(session, files, cluster, kind)
            names = ", ".join(str(file.relative_to(SAMPLES)) for file in files)
            _tell(f"$ moldau load {names} --cluster {cluster} --kind {kind}", loaded.rows_new)
        _heading("Which groups are there?", "marts.groups")
        _show(
            warehouse,
            "select cluster_id, group_id, group_type, group_state, member_count as members, "
            "offset_count as offsets, topology_description, deleted_at "
            "from marts.groups order by cluster_id, group_type, group_id",
        )
        _tell("\n$ moldau cycle --dry-run --at 2026-11-21T07:56:22.363Z")
        decide(session, "cycle", [], AT_MS, is_dry_run=True)
        _tell("$ moldau sweep --dry-run --at 2026-11-21T07:56:22.363Z")
        decide(session, "sweep", [], AT_MS, is_dry_run=True)
        _heading("What do the next clean-up cycle and the next sweep do?", "marts.cleanup_preview")
        _show(
            warehouse,
            "select group_id, group_state, next_cycle, next_sweep, offsets_to_expire as expire, "
            "offsets_left as left, blocked_by, next_change_at from marts.cleanup_preview "
            "where cluster_id = 'west' and next_sweep is not null order by group_id",
        )
        _heading("When does each offset expire?", "marts.expiry_calendar")
        _show(
            warehouse,
            "select group_id, concat(topic_name, '-', partition_index) as offset_of, expiry_clock, "
            "expires_at, decision, blocked_by from marts.expiry_calendar "
            "where cluster_id = 'west' order by expires_at, group_id",
        )
        _heading("Why does c-txn-off stay?", "moldau explain c-txn-off")
        _explain(warehouse, "c-txn-off")
        before = _preview(warehouse)
        load(session, [west / "__consumer_offsets.later.jsonl"], "west", "records")
        _heading(
            "And what did the broker do? The records that it wrote in the next 50 seconds:",
            "moldau load west/__consumer_offsets.later.jsonl --cluster west --kind records",
        )
        _compare(warehouse, before)
    _tell(
        "\nAll of it is in Delta tables under "
        f"{warehouse}. Look around (no Spark, about a second):\n"
        f"  moldau show marts.group_offsets --warehouse {warehouse}\n"
        f"  moldau explain g-streams-push --warehouse {warehouse}\n"
        f"  moldau sql --engine duckdb 'from marts.decision_history' --warehouse {warehouse}\n"
        f"  moldau status --warehouse {warehouse}"
    )


def _make_room(warehouse: Path) -> None:
    if (warehouse / MARKER).exists():
        shutil.rmtree(warehouse)
    elif warehouse.exists() and any(warehouse.iterdir()):
        raise MoldauError(f"{warehouse} is there and is not a demo: name another --warehouse")


def _tell(text: str, rows_new: int | None = None) -> None:
    click.echo(text if rows_new is None else f"{text}\n  {rows_new} rows")


def _heading(question: str, source: str) -> None:
    click.echo(f"\n{question}  [{source}]")


def _show(warehouse: Path, sql: str) -> None:
    from moldau.reading.query import query

    answer = query(warehouse, sql)
    write_rows(answer.columns, answer.rows, "table")


def _explain(warehouse: Path, subject: str) -> None:
    from moldau.reading.explain import explain_subject
    from moldau.reading.explain_words import in_words

    for line in in_words(explain_subject(warehouse, subject, "west")):
        click.echo(f"  {line}")


def _preview(warehouse: Path) -> list[tuple[Any, ...]]:
    from moldau.reading.query import query

    answer = query(
        warehouse,
        "select group_id, next_cycle, next_sweep, blocked_by from marts.cleanup_preview "
        "where cluster_id = 'west' and next_sweep is not null",
    )
    return [tuple(row) for row in answer.rows]


def _compare(warehouse: Path, before: list[tuple[Any, ...]]) -> None:
    from moldau.reading.query import query

    now = query(
        warehouse,
        "select group_id, is_deleted, deleted_at from marts.groups where cluster_id = 'west'",
    )
    after = {row[0]: row[1:] for row in now.rows}
    rows = [
        (*row, "removed" if after[row[0]][0] else "still there", after[row[0]][1]) for row in before
    ]
    rows.sort(key=lambda row: (row[5] is None, str(row[5]), row[0]))
    columns = ("group_id", "next_cycle", "next_sweep", "blocked_by", "then_in_kafka", "removed_at")
    write_rows(columns, rows, "table")
