"""`moldau status`: what the warehouse holds and what happened last, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from moldau.cli.options import format_option, pass_settings_to_read
from moldau.cli.output import write_rows
from moldau.cli.say import hand_over, is_terminal, say, say_lines
from moldau.instants import format_instant
from moldau.reading.tables.values import to_json
from moldau.settings import Settings
from moldau.warehouse.aside import in_words, read_aside
from moldau.warehouse.paths import REFUSED

if TYPE_CHECKING:
    from moldau.reading.health.status import Status
    from moldau.reading.tables.table_status import Row

_TABLE_COLUMNS = ("table", "rows", "files", "bytes", "version", "last_write_at")
_RUN_COLUMNS = (
    "run_id", "kind", "clusters", "status", "engine", "decided_at", "finished_at", "counts",
)  # fmt: skip
_CLUSTER_COLUMNS = ("cluster_id", "authority", "loaded_at", "decided_at", "plugin_name")
_LAST_COLUMNS = (
    "kind", "decided_at", "finished_at", "rows", "status", "run_id", "engine", "clusters",
)  # fmt: skip
_SHOWN = 10
_SETTING_COLUMNS = (
    "cluster_id", "authority", "rulesets", "plugin_name", "offsets_retention_ms",
    "check_interval_ms", "valid_from",
)  # fmt: skip


@click.command(name="status")
@click.option("--tables", "is_of_tables", is_flag=True, help="Only the list of tables.")
@format_option
@pass_settings_to_read
def status(settings: Settings, is_of_tables: bool, output_format: str) -> None:
    """Show what is there, when it last came and was decided, and what needs attention.

    A terminal gets one screen. Elsewhere the tables, the last runs and the settings in force
    follow one another; JSON has all of it.

    \b
    Example:
      moldau status --warehouse ./warehouse
      moldau status --tables
    """
    from moldau.reading.health.status import read_status

    found = read_status(settings.warehouse)
    if output_format == "json":
        hand_over(to_json(vars(found) | {"warehouse": str(found.warehouse)}) + "\n")
    elif output_format != "table":
        columns = [*_TABLE_COLUMNS[:-1], "last_write_at_ms", "damage"]
        write_rows(columns, [[row[c] for c in columns] for row in found.tables], output_format)
    elif is_of_tables:
        _write_tables(found)
    elif is_terminal():
        _write_screen(found)
    else:
        say(f"Warehouse {found.warehouse}")
        _say_what_needs_attention(found)
        _write_whole(found)


def _write_screen(found: Status) -> None:
    from moldau.reading.health.glance import glance

    seen = glance(found.warehouse, found)
    count, size = (sum(row[name] or 0 for row in found.tables) for name in ("rows", "bytes"))
    say(f"Warehouse {found.warehouse}: {len(found.tables)} tables, {count:,} rows, {_size(size)}")
    is_fine = not _say_what_needs_attention(found)
    for words in _failures(seen.runs):
        is_fine = False
        say(words)
    if is_fine:
        say("Nothing needs attention")
    came = [
        f"{row['rows']:,} {row['table'].removeprefix('raw.')}"
        for row in found.tables
        if row["table"].startswith("raw.") and row["rows"]
    ]
    say(f"Came so far: {', '.join(came) or 'nothing yet'}")
    _write_part("Clusters: when something last came, and as of when they were decided",
                _CLUSTER_COLUMNS, map(_to_the_second, seen.clusters[:_SHOWN]))  # fmt: skip
    if len(seen.clusters) > _SHOWN:
        say(f"and {len(seen.clusters) - _SHOWN} more: see state.settings")
    _write_part("Last run of each kind", _LAST_COLUMNS, map(_to_the_second, map(_run, seen.runs)))
    say_lines("\n`--tables` lists the tables, `--format json` has everything")


def _write_part(
    title: str, columns: Sequence[str], told: Iterable[Row], otherwise: str | None = None
) -> None:
    rows = [[row[name] for name in columns] for row in told]
    if words := title if rows else otherwise:
        say_lines(f"\n{words}")
    if rows:
        write_rows(columns, rows, "table", shape="glance")


def _failures(runs: Sequence[Row]) -> Iterator[str]:
    """What the last run of a kind could not do."""
    from moldau.sessions.run import FAILED, FAILURES

    for row in runs:
        counts = row["counts"]
        calls = sum(counts.get(name, 0) for name in FAILURES)
        refused = counts.get("rows_refused", 0)
        if row["status"] == FAILED:
            yield f"Failed: {row['run_id']}"
        if calls:
            yield f"Calls: {calls} of {row['run_id']} failed: see history.plugin_calls"
        if refused:
            yield f"Refused lines: {refused}, see {REFUSED}/{row['run_id']}.jsonl"


def _size(size: int) -> str:
    from rich.filesize import decimal

    return decimal(size)


def _say_what_needs_attention(found: Status) -> bool:
    """A line each; gives whether there was any."""
    told = list(_attention(found))
    for line in told:
        say(line)
    return bool(told)


def _attention(found: Status) -> Iterator[str]:
    from moldau.reading.explain.listed import listed_words
    from moldau.reading.health.freshness import held_words, stale_words
    from moldau.reading.health.stopped_syncs import stopped_words

    if lock := found.lock:
        since = f" since {format_instant(lock['since_ms'])}" if lock.get("since_ms") else ""
        yield f"In use by `{lock.get('command')}` (pid {lock.get('pid')}){since}"
    for run_id in found.loads:
        state = "Running or interrupted load" if found.lock else "Interrupted load"
        yield f"{state} {run_id}: the next command that writes finishes it"
    for entry in read_aside(found.warehouse):
        yield f"Set aside: {in_words(entry)}"
    for row in found.tables:
        if row["damage"]:
            yield f"Damaged: {row['damage']}"
        if row["upkeep"]:
            yield (
                f"Upkeep: {row['table']} has {row['upkeep']}; `moldau maintain` does all at once"
            )
    for words in (*held_words(found.freshness), *stale_words(found.freshness)):
        yield f"Live: {words}"
    for words in listed_words(found.unrecorded_groups):
        yield f"Group: {words}"
    for words in stopped_words(found.stopped_syncs):
        yield f"Mirror: {words}"


def _write_tables(found: Status) -> None:
    told = map(_told, found.tables)
    write_rows(_TABLE_COLUMNS, [[row[name] for name in _TABLE_COLUMNS] for row in told], "table")


def _write_whole(found: Status) -> None:
    say_lines("\nTables")
    _write_tables(found)
    _write_part("Last runs", _RUN_COLUMNS, map(_told, map(_run, found.runs)), "No run yet")
    _write_part("Settings in force", _SETTING_COLUMNS, map(_setting, found.settings),
                "No settings recorded yet")  # fmt: skip


def _told(row: Row, to_ms: int = 1) -> Row:
    """With its instants as people write them too, down to so many milliseconds."""
    return row | {
        name.removesuffix("_ms"): ms if ms is None else format_instant(ms // to_ms * to_ms)
        for name, ms in row.items()
        if name.endswith("_at_ms") or name == "valid_from_ms"
    }


def _to_the_second(row: Row) -> Row:
    return _told(row, 1000)


def _run(row: Row) -> Row:
    counts = row["counts"]
    return row | {
        "status": row["status"] + (" (dry run)" if row["is_dry_run"] else ""),
        "clusters": ", ".join(row["cluster_ids"]),
        "engine": row.get("engine"),  # a row of an earlier moldau has none
        "rows": counts.get("decided", counts.get("rows_new")),
        "counts": _pairs("{} {}", counts),
    }


def _setting(row: Row) -> Row:
    return _told(row) | {"rulesets": _pairs("{}: {}", row["rulesets"])}


def _pairs(form: str, told: dict[str, Any]) -> str:
    return ", ".join(form.format(*pair) for pair in sorted(told.items()))
