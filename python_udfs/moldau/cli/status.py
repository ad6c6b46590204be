"""`moldau status`: what the warehouse holds and what happened last, without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from moldau.cli.options import format_option, pass_settings_to_read
from moldau.cli.output import write_rows
from moldau.cli.say import hand_over, say, say_lines
from moldau.instants import format_instant
from moldau.reading.tables.values import to_json
from moldau.settings import Settings
from moldau.warehouse.aside import in_words, read_aside

if TYPE_CHECKING:
    from moldau.reading.health.status import Status

_TABLE_COLUMNS = ("table", "rows", "files", "bytes", "version", "last_write_at")
_RUN_COLUMNS = (
    "run_id",
    "kind",
    "clusters",
    "status",
    "engine",
    "decided_at",
    "finished_at",
    "counts",
)
_SETTING_COLUMNS = (
    "cluster_id",
    "authority",
    "rulesets",
    "plugin_name",
    "offsets_retention_ms",
    "check_interval_ms",
    "valid_from",
)


@click.command(name="status")
@format_option
@pass_settings_to_read
def status(settings: Settings, output_format: str) -> None:
    """Show the warehouse: tables, last runs, settings in force, open loads, who holds the lock.

    \b
    Example:
      moldau status --warehouse ./warehouse
    """
    from moldau.reading.health.status import read_status

    found = read_status(settings.warehouse)
    if output_format == "json":
        hand_over(to_json(vars(found) | {"warehouse": str(found.warehouse)}) + "\n")
    elif output_format != "table":
        columns = [*_TABLE_COLUMNS[:-1], "last_write_at_ms", "damage"]
        write_rows(columns, [[row[c] for c in columns] for row in found.tables], output_format)
    else:
        _write_words(found)


def _write_words(found: Status) -> None:
    from moldau.reading.health.freshness import held_words, stale_words
    from moldau.reading.health.stopped_syncs import stopped_words

    say(f"Warehouse {found.warehouse}")
    if lock := found.lock:
        since = f" since {format_instant(lock['since_ms'])}" if lock.get("since_ms") else ""
        say(f"In use by `{lock.get('command')}` (pid {lock.get('pid')}){since}")
    for run_id in found.loads:
        state = "Running or interrupted load" if found.lock else "Interrupted load"
        say(f"{state} {run_id}: the next command that writes finishes it")
    for entry in read_aside(found.warehouse):
        say(f"Set aside: {in_words(entry)}")
    for row in found.tables:
        if row["damage"]:
            say(f"Damaged: {row['damage']}")
        if row["upkeep"]:
            say(f"Upkeep: {row['table']} has {row['upkeep']}; `moldau maintain` does all at once")
    for words in (*held_words(found.freshness), *stale_words(found.freshness)):
        say(f"Live: {words}")
    for words in stopped_words(found.stopped_syncs):
        say(f"Mirror: {words}")
    say_lines("\nTables")
    write_rows(_TABLE_COLUMNS, [_table(row) for row in found.tables], "table")
    say_lines("\nLast runs" if found.runs else "\nNo run yet")
    if found.runs:
        write_rows(_RUN_COLUMNS, [_run(row) for row in found.runs], "table")
    say_lines("\nSettings in force" if found.settings else "\nNo settings recorded yet")
    if found.settings:
        write_rows(_SETTING_COLUMNS, [_setting(row) for row in found.settings], "table")


def _table(row: dict[str, Any]) -> list[Any]:
    return [*(row[column] for column in _TABLE_COLUMNS[:-1]), _instant(row["last_write_at_ms"])]


def _run(row: dict[str, Any]) -> list[Any]:
    state = row["status"] + (" (dry run)" if row["is_dry_run"] else "")
    counts = ", ".join(f"{name} {count}" for name, count in sorted(row["counts"].items()))
    instants = (_instant(row["decided_at_ms"]), _instant(row["finished_at_ms"]))
    clusters = ", ".join(row["cluster_ids"])
    engine = row.get("engine")  # a row of an earlier moldau has none
    return [row["run_id"], row["kind"], clusters, state, engine, *instants, counts]


def _setting(row: dict[str, Any]) -> list[Any]:
    rulesets = ", ".join(f"{domain}: {name}" for domain, name in sorted(row["rulesets"].items()))
    told = row | {"rulesets": rulesets}
    return [*(told[c] for c in _SETTING_COLUMNS[:-1]), _instant(row["valid_from_ms"])]


def _instant(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else format_instant(milliseconds)
