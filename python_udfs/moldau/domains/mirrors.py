"""MirrorMaker 2: what it says of offsets on both sides is decoded; nothing is decided yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.domains.domain import Domain, Topics

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.settings.fields import Section


def _offset_syncs(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    from moldau.records.flat import offset_syncs

    return offset_syncs(keys, values)


def _checkpoints(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    from moldau.records.flat import checkpoints

    return checkpoints(keys, values)


def _heartbeats(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    from moldau.records.flat import heartbeats

    return heartbeats(keys, values)


def _flow() -> type[Section]:
    from moldau.settings.flow import FlowSettings

    return FlowSettings


DOMAIN = Domain(
    name="mirrors",
    topics=(
        Topics("offset_syncs", "decoded.offset_syncs", _offset_syncs),
        Topics("checkpoints", "decoded.checkpoints", _checkpoints),
        Topics("heartbeats", "decoded.heartbeats", _heartbeats),
    ),
    sections={"flows": _flow},
    has_cluster_rules=False,
)
