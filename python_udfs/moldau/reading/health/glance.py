"""What is known of each cluster, and the last run of each kind: `moldau status` on one screen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from moldau.reading.health.status import Status
from moldau.reading.tables.query import Tables
from moldau.reading.tables.table_status import Row

RUNS, SETTINGS = "state.runs", "state.settings"
_CLUSTERS = f"""
    with

    told as (

        select
            unnest(cluster_ids) as cluster_id,
            if(decided_at_ms is null, finished_at_ms, null) as loaded_at_ms,
            if(is_dry_run, null, decided_at_ms) as decided_at_ms

        from {RUNS}

        where status = 'succeeded'

    ),

    latest as (

        select
            cluster_id,
            max(loaded_at_ms) as loaded_at_ms,
            max(decided_at_ms) as decided_at_ms

        from told

        group by cluster_id

    )

    select
        cluster_id,
        latest.loaded_at_ms,
        latest.decided_at_ms,
        settings.authority,
        settings.plugin_name

    from latest

    full join {SETTINGS} as settings using (cluster_id)

    where settings.valid_to_ms is null

    order by cluster_id
"""
_LAST = f"""
    select *

    from {RUNS}

    qualify row_number() over (partition by kind order by run_id desc) = 1

    order by run_id desc
"""


@dataclass(frozen=True)
class Glance:
    """`clusters`: a row each, with what came last and what was decided; `runs`: the last of each
    kind."""

    clusters: list[Row]
    runs: list[Row]


def glance(warehouse: Path, found: Status) -> Glance:
    """Without what is damaged, of which `found` says so."""
    damaged = {row["table"] for row in found.tables if row["damage"]}
    there = {row["table"] for row in found.tables} - damaged
    if not {RUNS, SETTINGS} <= there:
        return Glance([], [])
    tables = Tables(warehouse, [RUNS, SETTINGS])
    return Glance(tables.ask(_CLUSTERS), tables.ask(_LAST))
