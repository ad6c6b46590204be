"""`moldau demo --live`: the first look at a running cluster, in a warehouse of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moldau.cli.bringing import Bringing
from moldau.cli.reaching import needs_client
from moldau.cli.say import warn
from moldau.cli.story import ask, heading, show, tell
from moldau.engines.engine import EngineName
from moldau.instants import format_instant, now_ms
from moldau.settings import Settings, load_settings

if TYPE_CHECKING:
    from moldau.dumping.client_settings import ClientSettings

CLUSTER = "live"
_SHOWN = 20
_DECIDING = ("cycle", "sweep")
# question, mart, columns, which rows, in which order
_TABLES = (
    (
        "How far behind is who?", "marts.group_lag",
        "group_id, concat(topic_name, '-', partition_index) as partition, status, "
        "committed_offset, high_watermark, lag, committed_at",
        "true", "lag desc nulls last, group_id, topic_name, partition_index",
    ),
    (
        "What do the next clean-up cycle and the next sweep do?", "marts.cleanup_preview",
        "group_id, group_type, group_state, next_cycle, next_sweep, "
        "offsets_to_expire as expire, offsets_left as left, blocked_by, next_change_at",
        "next_cycle is not null or next_sweep is not null",
        "next_sweep desc, next_change_at nulls last, group_id",
    ),
    (
        "When does each offset expire?", "marts.expiry_calendar",
        "group_id, concat(topic_name, '-', partition_index) as offset_of, expiry_clock, "
        "expires_at, decision, blocked_by",
        "true", "expires_at nulls last, group_id, topic_name, partition_index",
    ),
)  # fmt: skip


def tell_of_a_running_cluster(
    warehouse: Path,
    servers: str | None,
    properties: Path | None,
    timeout: float,
    engine: EngineName,
    make_room: Callable[[Path], Path],
) -> None:
    """Read it, foretell its clean-up, show what there is. `make_room` gives where moldau.yml goes.

    An earlier demo is replaced once the cluster has answered. What stays unknown is named, and the
    exit code is 2.
    """
    with needs_client("moldau demo --live"):
        from moldau.collecting.asker import asking
        from moldau.collecting.clean_up import clean_up_settings
        from moldau.dumping.reached import reach
    nothing_said = Settings(warehouse=warehouse, config=None, clusters={})
    reached = reach(nothing_said, CLUSTER, servers, properties)
    with asking(reached, timeout) as asker:
        clean_up, findings = clean_up_settings(asker)
        tell(f"Kafka {asker.version} or later at {reached.servers}: only read, no group is joined.")
    config = make_room(warehouse)
    config.write_text(_settings_text(reached, properties, clean_up))
    tell(f"$ cat {config}\n{config.read_text().rstrip()}")
    findings += _tell_story(load_settings(config, warehouse, engine=engine), timeout)
    for finding in findings:
        warn(finding)
    tell(
        f"\nAll of it is in Delta tables under {warehouse}. Go on from here:\n"
        f"  moldau watch --config {config} --warehouse {warehouse}\n"
        f"  moldau explain GROUP --config {config} --warehouse {warehouse}\n"
        f"  moldau show marts.group_lag_by_group --warehouse {warehouse}"
    )
    if findings:
        click.get_current_context().exit(2)


def _settings_text(
    reached: ClientSettings, properties: Path | None, clean_up: dict[str, str]
) -> str:
    own = {"bootstrap.servers": reached.servers}
    if properties:
        own["properties"] = str(properties.resolve())
    lines = [f"    {key}: {json.dumps(value)}\n" for key, value in (own | clean_up).items()]
    return f"clusters:\n  {CLUSTER}:\n    ruleset: {{groups: kafka_4_4}}\n{''.join(lines)}"


def _tell_story(settings: Settings, timeout: float) -> list[str]:
    """What was found to be missing, for stderr."""
    from moldau.runs.decide import decide
    from moldau.runs.opening import open_session

    findings: list[str] = []
    with open_session(settings, "moldau demo") as session:
        bringing = Bringing(settings, timeout, findings.append)
        tell(f"\n$ moldau ingest --cluster {CLUSTER}; moldau collect --cluster {CLUSTER}")
        for loaded in bringing.bring(CLUSTER, lambda: session):
            tell(f"  {loaded.kind}: {loaded.rows_new} rows")
        at_ms = now_ms()
        for kind in _DECIDING:
            tell(f"$ moldau {kind} --dry-run --at {format_instant(at_ms)}")
            decide(session, kind, [], at_ms, is_dry_run=True)
        _show_tables(settings.warehouse)
    return findings


def _show_tables(warehouse: Path) -> None:
    heading("Which groups are there?", "marts.groups")
    show(
        warehouse,
        "select group_type, group_state, count(*) as groups, sum(member_count) as members, "
        "sum(offset_count) as offsets from marts.groups where not is_deleted "
        "group by group_type, group_state order by group_type, group_state",
    )
    for question, mart, columns, where, order in _TABLES:
        [(count,)] = ask(warehouse, f"select count(*) from {mart} where {where}")
        heading(question if count <= _SHOWN else f"{question} {_SHOWN} of {count} rows", mart)
        select = f"select {columns} from {mart} where {where}"
        show(warehouse, f"{select} order by {order} limit {_SHOWN}")
