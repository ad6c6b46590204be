"""Records with the columns that a load decodes them into, without a warehouse."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from moldau.declared import topics
from moldau.records import families
from moldau.records.flat import flat
from moldau.warehouse.contracts import tables
from moldau.warehouse.metadata import arrow_schema


def columns_of(family: str) -> pa.Schema:
    """What the table of a family keeps of a record, without where it stands in the log."""
    columns = list(arrow_schema(tables()[topics()[family].table]))
    first = next(at for at, column in enumerate(columns) if column.name == "record_type")
    return pa.schema(columns[first:])


def decoded(family: str, keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    return flat(family, keys, values, columns_of(family))


group_records = partial(decoded, families.CONSUMER_OFFSETS)
remote_log_records = partial(decoded, families.REMOTE_LOG_METADATA)
LEADER_EPOCHS = columns_of(families.REMOTE_LOG_METADATA).field("leader_epochs").type
