"""`moldau demo`: the main use of moldau, step by step on a bundled capture of a real broker."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, get_args

import click

from moldau.cli.demo_dbt import tell_of_dbt
from moldau.cli.demo_in_charge import MINUTE_MS, settings_text, tell_of_being_in_charge
from moldau.cli.demo_live import tell_of_a_running_cluster
from moldau.cli.demo_mirrors import FLOWS, tell_of_mirrors
from moldau.cli.demo_producers import PRODUCERS, tell_of_producers
from moldau.cli.demo_registry import Registry, running_registry
from moldau.cli.demo_requests import tell_of_requests
from moldau.cli.failures import works_on
from moldau.cli.options import require_folder
from moldau.cli.output import write_rows
from moldau.cli.reaching import reach_options, timeout_option
from moldau.cli.story import ask, explain, heading, load, show, tell
from moldau.engines.engine import EngineName
from moldau.errors import MoldauError
from moldau.project import SAMPLES
from moldau.settings import Settings, load_settings

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
@click.option(
    "--engine",
    type=click.Choice(get_args(EngineName)),
    default="auto",
    show_default=True,
    help="auto: embedded, and at the end once on Spark where Java is there; duckdb: without that "
    "end; spark: all of it on Spark.",
)
@click.option(
    "--live",
    "is_live",
    is_flag=True,
    help="Tell of a running cluster instead, which is only read.",
)
@reach_options
@timeout_option
def demo(
    warehouse: Path,
    engine: EngineName,
    is_live: bool,
    bootstrap_servers: str | None,
    properties: Path | None,
    timeout: float,
) -> None:
    """Load the records of two real Kafka 4.4.0 brokers, see what their clean-up will do and why.

    Then moldau is in charge of the same groups: it deletes descriptions from a small HTTP service,
    one delete fails and is retried, and the sweep removes offsets and groups. It answers what
    clients ask of the coordinator. Two clusters have a real MirrorMaker 2 between them, which is
    restarted: where would groups go on in the other one? Two producers, and what they would ask a
    broker for by other rules. Last, where Java is there, the same cycle by plain dbt on Spark.

    With --live it is about your cluster: its topics and what an admin client is told are read once,
    nothing is written to it, and the tables say who lags, what the brokers' next clean-up does and
    when each offset expires. Its rights: docs/live.md. Needs pip install 'moldau[kafka]'.

    \b
    Example:
      moldau demo
      moldau demo --live --bootstrap-servers broker:9093 --properties client.properties
    """
    require_folder(warehouse)
    works_on(warehouse)
    if is_live:
        tell_of_a_running_cluster(
            warehouse, bootstrap_servers, properties, timeout, engine, _make_room
        )
        return
    if bootstrap_servers or properties:
        raise MoldauError("--bootstrap-servers and --properties are for --live")
    config = _make_room(warehouse)
    with running_registry() as registry:
        config.write_text(settings_text(registry) + FLOWS + PRODUCERS)
        _tell_story(load_settings(config, warehouse, engine=engine), registry)


def _tell_story(settings: Settings, registry: Registry) -> None:
    from moldau.runs.decide import decide
    from moldau.runs.load import load as load_files
    from moldau.runs.opening import open_session

    warehouse = settings.warehouse
    tell(
        "Two Kafka 4.4.0 brokers, `east` and `west`, and their topic __consumer_offsets.\n"
        "Creating the warehouse ..."
    )
    with open_session(settings, "moldau demo") as session:
        load(session, "east", "records", "east/__consumer_offsets.jsonl")
        load(session, "west", "records", "west/__consumer_offsets.jsonl")
        load(session, "west", "open_transactions", "west/open_transactions.jsonl")
        heading("Which groups are there?", "marts.groups")
        show(
            warehouse,
            "select cluster_id, group_id, group_type, group_state, member_count as members, "
            "offset_count as offsets, topology_description, deleted_at "
            "from marts.groups order by cluster_id, group_type, group_id",
        )
        tell("\n$ moldau cycle --dry-run --at 2026-11-21T07:56:22.363Z")
        decide(session, "cycle", [], AT_MS, is_dry_run=True)
        tell("$ moldau sweep --dry-run --at 2026-11-21T07:56:22.363Z")
        decide(session, "sweep", [], AT_MS, is_dry_run=True)
        heading("What do the next clean-up cycle and the next sweep do?", "marts.cleanup_preview")
        show(
            warehouse,
            "select group_id, group_state, next_cycle, next_sweep, offsets_to_expire as expire, "
            "offsets_left as left, blocked_by, next_change_at from marts.cleanup_preview "
            "where cluster_id = 'west' and next_sweep is not null order by group_id",
        )
        heading("When does each offset expire?", "marts.expiry_calendar")
        show(
            warehouse,
            "select group_id, concat(topic_name, '-', partition_index) as offset_of, expiry_clock, "
            "expires_at, decision, blocked_by from marts.expiry_calendar "
            "where cluster_id = 'west' order by expires_at, group_id",
        )
        heading("Why does c-txn-off stay?", "moldau explain c-txn-off")
        explain(warehouse, "c-txn-off", "west")
        before = _preview(warehouse)
        later = SAMPLES / "west" / "__consumer_offsets.later.jsonl"
        load_files(session, [later], "west", "records")
        heading(
            "And what did the broker do? The records that it wrote in the next 50 seconds:",
            "moldau load west/__consumer_offsets.later.jsonl --cluster west --kind records",
        )
        _compare(warehouse, before)
        tell_of_being_in_charge(session, registry, AT_MS + MINUTE_MS)
        tell_of_requests(session, registry, AT_MS + 5 * MINUTE_MS)
        tell_of_mirrors(session)
        tell_of_producers(session)
        if settings.engine != "duckdb":
            tell_of_dbt(session, AT_MS + 60 * MINUTE_MS)
    tell(
        "\nAll of it is in Delta tables under "
        f"{warehouse}. Look around (no Spark, about a second):\n"
        f"  moldau show marts.group_offsets --warehouse {warehouse}\n"
        f"  moldau explain g-streams-push --cluster east --warehouse {warehouse}\n"
        f"  moldau sql --engine duckdb 'from marts.decision_history' --warehouse {warehouse}\n"
        f"  moldau show history.plugin_calls --warehouse {warehouse}\n"
        f"  moldau status --warehouse {warehouse}\n"
        "Or in a browser:\n"
        f"  moldau serve --warehouse {warehouse}"
    )


def _make_room(warehouse: Path) -> Path:
    """Where its moldau.yml goes; an earlier demo is removed."""
    if (warehouse / MARKER).exists():
        shutil.rmtree(warehouse)
    elif warehouse.exists() and any(warehouse.iterdir()):
        raise MoldauError(f"{warehouse} is there and is not a demo: name another --warehouse")
    (warehouse / MARKER).parent.mkdir(parents=True)
    (warehouse / MARKER).touch()
    return warehouse / "moldau.yml"


def _preview(warehouse: Path) -> list[tuple[Any, ...]]:
    return ask(
        warehouse,
        "select group_id, next_cycle, next_sweep, blocked_by from marts.cleanup_preview "
        "where cluster_id = 'west' and next_sweep is not null",
    )


def _compare(warehouse: Path, before: list[tuple[Any, ...]]) -> None:
    now = ask(
        warehouse,
        "select group_id, is_deleted, deleted_at from marts.groups where cluster_id = 'west'",
    )
    after = {row[0]: row[1:] for row in now}
    rows = [
        (*row, "removed" if after[row[0]][0] else "still there", after[row[0]][1]) for row in before
    ]
    rows.sort(key=lambda row: (row[5] is None, str(row[5]), row[0]))
    columns = ("group_id", "next_cycle", "next_sweep", "blocked_by", "then_in_kafka", "removed_at")
    write_rows(columns, rows, "table", shape="glance")
