"""A table's contract as Delta log actions, so that no JVM is needed to create a table.

Delta keeps what a table is in two lines of JSON, protocol and metadata. deltalake's own calls take
no check together with the columns, and cannot let a column become nullable.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any

from moldau.instants import now_ms
from moldau.warehouse.contracts import Table
from moldau.warehouse.damage import spark_type

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

DERIVED = ("seeds",)  # rebuilt from the rest, so they may be made anew
CHECK = "delta.constraints."
STATISTICS = "delta.dataSkippingStatsColumns"
_OURS = (CHECK, "delta.dataSkipping")  # properties that follow the contract whatever is there
_WRITES_CHECKS = 3  # the writer's version since which Delta holds rows against checks
_HAS_FEATURES = 7  # and that since which the protocol names each feature instead
_NAMES = {"bigint": "long", "int": "integer", "smallint": "short", "tinyint": "byte"}

Action = dict[str, Any]  # one line of a commit


def new_table(table: Table) -> list[Action]:
    """The first commit of a table."""
    schema = _schema_string(fields_of(table))
    return _first_commit(schema, properties_of(table), table.description)


def like(opened: DeltaTable) -> list[Action]:
    """The first commit of another table that takes the same rows."""
    found = opened.metadata().configuration
    checks = {name: check for name, check in found.items() if name.startswith(CHECK)}
    return _first_commit(opened.schema().to_json(), checks)


def _first_commit(
    schema: str, configuration: dict[str, str], description: str | None = None
) -> list[Action]:
    metadata: Action = {
        "id": str(uuid.uuid4()),
        "description": description,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema,
        "partitionColumns": [],
        "configuration": configuration,
        "createdTime": now_ms(),
    }
    protocol = {"minReaderVersion": 1, "minWriterVersion": _WRITES_CHECKS}
    return [_info("CREATE TABLE"), {"protocol": protocol}, {"metaData": metadata}]


def changes(table: Table, opened: DeltaTable, has_rows: bool) -> list[Action]:
    """The commit after which the table follows its contract; [] = it does already.

    Rows of before lack a column that is new and may lack one that was nullable: neither becomes
    NOT NULL. Of the properties that no contract rules those of before hold, be they a person's or
    a merge's.
    """
    found = opened.metadata()
    before = _fields(opened)
    required = {field["name"] for field in before if not field["nullable"]}
    fields = fields_of(table, may_require=required if has_rows else None)
    kept = {k: v for k, v in found.configuration.items() if not k.startswith(_OURS)}
    configuration = properties_of(table) | kept
    protocol = _protocol(opened, bool(table.checks))
    is_same = (fields, configuration, table.description) == (
        before,
        found.configuration,
        found.description,
    )
    if is_same and not protocol:
        return []
    metadata = {
        "id": str(found.id),
        "description": table.description,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": _schema_string(fields),
        "partitionColumns": list(found.partition_columns),
        "configuration": configuration,
        "createdTime": found.created_time,
    }
    return [_info("SET TBLPROPERTIES"), *protocol, {"metaData": metadata}]


def misfit(table: Table, opened: DeltaTable) -> str | None:
    """Why the rows that are there cannot stand under the contract; None = they can."""
    from deltalake import QueryBuilder

    before = {field["name"]: field["type"] for field in _fields(opened)}
    for column in table.columns:
        found = before.get(column.name)
        if found is not None and found != delta_type(column.data_type):
            was = f"{spark_type(found)} instead of {column.data_type}"
            return f"{column.name} of {table.full_name} is {was}"
    new = "".join(f", null as {c.name}" for c in table.columns if c.name not in before)
    known = opened.metadata().configuration
    for name, check in table.checks.items():
        if known.get(f"{CHECK}{name.lower()}") == check:
            continue
        sql = f"select 1 from (select *{new} from t) as t where ({check}) is not true limit 1"
        if QueryBuilder().register("t", opened).execute(sql).read_all().num_rows:
            return f"a row of {table.full_name} breaks its new check {name}: {check}"
    return None


def fields_of(table: Table, may_require: Collection[str] | None = None) -> list[Action]:
    """The columns as Delta's schema has them; `may_require`: those that may be NOT NULL."""
    return [
        {
            "name": column.name,
            "type": delta_type(column.data_type),
            "nullable": column.is_nullable
            or (may_require is not None and column.name not in may_require),
            "metadata": {"comment": column.description} if column.description else {},
        }
        for column in table.columns
    ]


@cache
def arrow_schema(table: Table) -> pa.Schema:
    """The columns as Arrow has them."""
    import pyarrow as pa
    from deltalake import Schema

    return pa.schema(Schema.from_json(_schema_string(fields_of(table))).to_arrow())


def properties_of(table: Table) -> dict[str, str]:
    properties = {f"{CHECK}{name.lower()}": check for name, check in table.checks.items()}
    properties |= {
        "delta.checkpointInterval": "50",
        "delta.logRetentionDuration": "interval 7 days",  # as the files that versions need
        "delta.enableDeletionVectors": "false",  # until a merge finds the table big
    }
    return properties | _statistics(table) | table.properties


def _statistics(table: Table) -> dict[str, str]:
    """Files are pruned by key and by run only; to gather more costs a third of every write."""
    keys = [c.name for c in table.columns if c.name in table.primary_key or "run_id" in c.name]
    if table.database in DERIVED or not keys:
        return {"delta.dataSkippingNumIndexedCols": "0"}
    return {STATISTICS: ",".join(keys)}


def delta_type(sql: str) -> Any:
    """Delta's JSON of a type in Spark SQL's words, as the contracts have it."""
    text = "".join(sql.lower().split())
    outer = re.fullmatch(r"(array|map|struct)<(.*)>", text)
    if outer is None:
        return _NAMES.get(text, text)
    parts = _split(outer[2])
    match outer[1]:
        case "array":
            return {"type": "array", "elementType": delta_type(outer[2]), "containsNull": True}
        case "map":
            key, value = map(delta_type, parts)
            return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}
        case _:
            pairs = [part.split(":", 1) for part in parts]
            fields = [
                {"name": name, "type": delta_type(kind), "nullable": True, "metadata": {}}
                for name, kind in pairs
            ]
            return {"type": "struct", "fields": fields}


def _split(text: str) -> list[str]:
    """At the commas that stand in no bracket."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _protocol(opened: DeltaTable, has_checks: bool) -> list[Action]:
    """What makes every writer hold rows against the checks, if the table does not say it yet."""
    found = opened.protocol()
    if found.min_writer_version < _WRITES_CHECKS:
        raised = {"minReaderVersion": 1, "minWriterVersion": _WRITES_CHECKS}
        return [{"protocol": raised}] if has_checks else []
    features = found.writer_features or []
    if not has_checks or found.min_writer_version < _HAS_FEATURES or "checkConstraints" in features:
        return []
    asked: Action = {
        "minReaderVersion": found.min_reader_version,
        "minWriterVersion": found.min_writer_version,
        "writerFeatures": sorted([*features, "checkConstraints"]),
    }
    if found.reader_features is not None:
        asked["readerFeatures"] = sorted(found.reader_features)
    return [{"protocol": asked}]


def _fields(opened: DeltaTable) -> list[Action]:
    fields: list[Action] = json.loads(opened.schema().to_json())["fields"]
    return fields


def _schema_string(fields: list[Action]) -> str:
    return json.dumps({"type": "struct", "fields": fields}, ensure_ascii=False)


def _info(operation: str) -> Action:
    told = {"timestamp": now_ms(), "operation": operation, "operationParameters": {}}
    return {"commitInfo": {**told, "isBlindAppend": False, "engineInfo": "moldau"}}
