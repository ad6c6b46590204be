"""Find what is wrong with an installation or a warehouse, one finding per line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moldau.engines.sizes import bytes_read, duckdb_bytes
from moldau.errors import MoldauError
from moldau.escapes import named, visible
from moldau.instants import format_instant
from moldau.reading.health.status import lock_holder, open_loads
from moldau.reading.health.stopped_syncs import MART, STOPPED, stopped_words
from moldau.reading.tables.names_of import require_warehouse
from moldau.reading.tables.query import Tables
from moldau.reading.tables.table_status import read_tables
from moldau.reading.tables.views import is_view
from moldau.settings import Settings, load_settings
from moldau.warehouse.aside import in_words, read_aside
from moldau.warehouse.contracts import tables
from moldau.warehouse.create import is_initialised
from moldau.warehouse.damage import DamagedError, UnreadableError
from moldau.warehouse.intact import find_damage
from moldau.warehouse.left import find_lost
from moldau.warehouse.schema import of_an_earlier_version, present_schema, read_schema
from moldau.warehouse.verify import rebuilt_from, verify

ADVICE = "restore the folder from a copy"
_LISTED = 10


@dataclass(frozen=True)
class Finding:
    """One check. `is_fine` False = something to mend; `check` names what was looked at."""

    check: str
    is_fine: bool
    message: str


def examine(warehouse: Path, is_deep: bool = False, remote: str | None = None) -> Iterator[Finding]:
    """Every check, cheapest first; nothing is changed. `is_deep`: every file is read. `remote`: a
    server of Spark Connect, in place of Spark here."""
    if remote:
        yield _server(remote)
    else:
        yield _java()
        yield _jars()
    try:
        require_warehouse(warehouse)
    except MoldauError as error:
        yield Finding("warehouse", False, str(error))
        return
    yield from _lock_and_loads(warehouse)
    yield from _set_aside(warehouse)
    deep = [_pages] if is_deep else []
    checks = (
        _tables, _upkeep, *deep, _share_groups, _mirror_surpluses, _stopped_syncs, _unreadable,
        _undecodable, _left_in_tiers,
    )  # fmt: skip
    for check in checks:
        try:
            yield from check(warehouse)
        except MoldauError as error:
            yield Finding("data", False, str(error))


def examine_plugins(settings: Settings) -> Iterator[Finding]:
    """Whether verbs that write would start: they load every plugin that the settings name."""
    try:
        load_settings(settings.config, settings.warehouse)
    except MoldauError as error:
        yield Finding("plugin", False, str(error))


def examine_engine(settings: Settings) -> Iterator[Finding]:
    """Which engine makes the models of the next run, and why."""
    if not is_initialised(settings.warehouse):
        return
    if settings.engine != "auto":
        yield Finding("engine", True, f"{settings.engine}, by name")
        return
    size, most = (found >> 20 for found in (bytes_read(settings.warehouse), duckdb_bytes()))
    chosen = "duckdb" if size < most else "spark"
    told = f"{chosen}: runs read {size} MiB of tables, and from {most} MiB on Spark makes them"
    yield Finding("engine", True, told)


def _server(remote: str) -> Finding:
    from moldau.engines.spark.connected import require_listening

    try:
        return Finding("spark", True, f"a server listens at {require_listening(remote)}")
    except MoldauError as error:
        return Finding("spark", False, str(error))


def _java() -> Finding:
    from moldau.engines.spark.java import find_java

    try:
        java = find_java()
    except MoldauError as error:
        return Finding("java", False, str(error))
    return Finding("java", True, f"Java {java.version} at {java.path}")


def _jars() -> Finding:
    from moldau.engines.spark.jars import are_cached

    if are_cached():
        return Finding("jars", True, "Delta's jars are cached")
    return Finding("jars", False, "Delta's jars are not cached: the first command fetches them")


def _lock_and_loads(warehouse: Path) -> Iterator[Finding]:
    holder = lock_holder(warehouse)
    if holder:
        yield Finding("lock", True, f"in use by `{holder['command']}` (pid {holder['pid']})")
    for run_id in open_loads(warehouse):
        yield Finding(
            "load",
            holder is not None,
            f"load {run_id} did not end: the next command that writes finishes it",
        )


def _set_aside(warehouse: Path) -> Iterator[Finding]:
    for entry in read_aside(warehouse):
        yield Finding("set_aside", False, visible(in_words(entry)))


def _tables(warehouse: Path) -> Iterator[Finding]:
    schema = read_schema(warehouse) if is_initialised(warehouse) else present_schema()
    is_earlier = schema != present_schema()
    if is_earlier:
        told = "of an earlier version of moldau: the next command that writes lets it grow up"
        yield Finding("schema", True, told)
    wanted = [t for t in tables().values() if not is_earlier or t.full_name in schema.tables]
    whole = 0
    for table in wanted:
        try:
            damage = find_damage(warehouse, table, is_earlier)
        except UnreadableError as error:
            damage = str(error)
        if damage:
            yield Finding("table", False, damage)
        whole += damage is None
    if whole == len(wanted) and (lost := find_lost(warehouse)):
        yield Finding("table", False, lost)
    yield Finding("table", True, f"{whole} of {len(wanted)} tables are present and whole")


def _upkeep(warehouse: Path) -> Iterator[Finding]:
    for row in read_tables(warehouse):
        if told := row["upkeep"]:
            yield Finding("upkeep", False, f"{row['table']} has {told}; see `moldau maintain`")


def _pages(warehouse: Path) -> Iterator[Finding]:
    files = unguarded = damaged = 0
    for name in tables():
        folder = warehouse.joinpath(*name.split("."))
        if not folder.is_dir():
            continue  # told already
        advice = f"{ADVICE}; {rebuilt_from(name)}"
        try:
            found = verify(folder)
        except (DamagedError, UnreadableError) as error:
            yield Finding("pages", False, f"{name}: {error}; {advice}")
            continue
        files += found.files
        unguarded += found.unguarded
        damaged += len(found.damaged)
        for file, wrong in found.damaged.items():
            yield Finding("pages", False, f"{name}: the data file {file} {wrong}; {advice}")
    told = f"every page of {files} data files was read: {files - damaged} are whole"
    if unguarded:
        told += f"; {unguarded} of these have no checksums: not every changed bit shows in them"
    yield Finding("pages", True, told)


def _share_groups(warehouse: Path) -> Iterator[Finding]:
    names = ["state.groups", "state.group_offsets"]
    sql = (
        "select g.cluster_id, g.group_id, count(*) as offsets from state.groups as g "
        "inner join state.group_offsets as o "
        "on g.cluster_id = o.cluster_id and g.group_id = o.group_id "
        "where g.group_type = 'share' and not g.is_deleted and not o.is_deleted "
        "group by all order by all"
    )
    for row in _ask(warehouse, names, sql):
        yield Finding(
            "share_group",
            False,
            f"share group {named(row['group_id'], 200)} in cluster {visible(row['cluster_id'])} "
            f"holds {row['offsets']} committed offsets: Kafka's own sweep throws on it, so nothing "
            "in its partition of __consumer_offsets expires; delete the group's offsets",
        )


def _mirror_surpluses(warehouse: Path) -> Iterator[Finding]:
    from moldau.reading.explain.mirrors_words import surplus_in_words

    name = "marts.mirror_surpluses"
    for row in _ask(warehouse, [name], f"select * from {name} order by all"):
        first = row["waits_from_offset"]
        waits = f"groups at {first} or behind it wait" if first is not None else None
        place = f"{row['topic_name']}-{row['partition_index']} of {row['flow']}"
        yield Finding(
            "mirror_surplus", waits is None, f"{visible(place)}: {surplus_in_words(row, waits)}"
        )


def _stopped_syncs(warehouse: Path) -> Iterator[Finding]:
    for words in stopped_words(_ask(warehouse, [MART], f"from {MART} {STOPPED}")):
        yield Finding("mirror_syncs", False, words)


def _unreadable(warehouse: Path) -> Iterator[Finding]:
    for name, what in (
        ("state.groups", "group_id"),
        ("state.group_offsets", "group_id || ' ' || topic_name || '-' || partition_index"),
    ):
        sql = (
            f"select cluster_id, count(*) as found, list({what} order by {what})[:{_LISTED}] "
            f"as names from {name} where not is_readable and not is_deleted "
            "group by cluster_id order by cluster_id"
        )
        for row in _ask(warehouse, [name], sql):
            names = ", ".join(visible(text, 100) for text in row["names"])
            yield Finding(
                "unreadable",
                False,
                f"{row['found']} rows of {name} in cluster {visible(row['cluster_id'])} come from "
                f"records that cannot be decoded, so nothing is decided about them: {names}",
            )


def _undecodable(warehouse: Path) -> Iterator[Finding]:
    for name, table in tables().items():
        if table.database != "decoded" or "decode_status" not in {c.name for c in table.columns}:
            continue
        sql = (
            "select cluster_id, decode_status, count(*) as found, max(recorded_at_ms) as last_at_ms"
            f" from {name} where decode_status not in ('ok', 'tombstone') "
            "group by all order by all"
        )
        for row in _ask(warehouse, [name], sql):
            yield Finding(
                "decode_status",
                False,
                f"{row['found']} records of cluster {visible(row['cluster_id'])} have "
                f"decode_status {row['decode_status']}, the last of "
                f"{format_instant(row['last_at_ms'])}: `moldau show {name} "
                f"--where \"decode_status = '{row['decode_status']}'\"`",
            )


def _left_in_tiers(warehouse: Path) -> Iterator[Finding]:
    """What nobody needs any more in the object store: the findings that come with advice."""
    segments, findings = "state.remote_segments", "marts.remote_segment_findings"
    # the marts may have to be compiled: not for a cluster without tiered storage
    if not _ask(warehouse, [segments], f"select 1 as one from {segments} limit 1"):
        return
    topics = "list(distinct topic_name || ' (id ' || topic_id || ')')"
    sql = (
        "select cluster_id, finding, advice, count(*) as found, sum(size_bytes)::hugeint as size, "
        f"list_sort({topics})[:{_LISTED}] as topics, len({topics}) as all_topics "
        f"from {findings} where advice is not null group by all order by all"
    )
    for row in _ask(warehouse, [findings], sql):
        named = ", ".join(visible(text, 300) for text in row["topics"])
        more = row["all_topics"] - len(row["topics"])
        yield Finding(
            "object_store",
            False,
            f"{row['found']} remote segments of cluster {visible(row['cluster_id'])} are "
            f"{row['finding']}, {row['size']} bytes, of {named}"
            f"{f' and {more} more topics' if more else ''}: {row['advice']}; they are in `moldau "
            f"show {findings} --where \"finding = '{row['finding']}'\"`",
        )


def _ask(warehouse: Path, names: list[str], sql: str) -> list[dict[str, Any]]:
    """No row where a table is missing, or a mart needs what an earlier version did not write."""
    if any(map(is_view, names)) and of_an_earlier_version(warehouse):
        return []
    tables = Tables(warehouse, names)
    return [] if tables.is_missing_any else tables.ask(sql)
