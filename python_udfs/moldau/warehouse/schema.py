"""The schema version of a warehouse, in a note beside its tables."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from moldau.errors import MoldauError
from moldau.warehouse.contracts import tables
from moldau.warehouse.damage import DamagedError, looking_at
from moldau.warehouse.notes import EXACTLY, NotUnderstood, OtherVersion, read_note, write_note
from moldau.warehouse.paths import SCHEMA

# Raised when a release changes a contract, so that the releases before it keep their hands off.
# 1 was moldau 0.1, which wrote no note.
NUMBER = 4
_OF_0_1 = """
    raw.leader_epochs raw.local_segments raw.open_transactions raw.partition_states raw.records
    raw.topic_configs decoded.checkpoints decoded.group_records decoded.heartbeats
    decoded.offset_syncs decoded.remote_log_records state.group_offsets state.group_records
    state.groups state.leader_epochs state.local_segments state.open_transactions
    state.partition_states state.remote_segments state.runs state.settings state.topic_configs
    decisions.cleanup_eligibility decisions.delete_candidates decisions.group_sweeps
    decisions.offset_expirations decisions.upload_candidates history.decision_changes
    history.epoch_clears history.plugin_calls history.rejected_segment_events history.tier_lag
    history.tombstones plugin.topology_descriptions
"""


@dataclass(frozen=True)
class Schema:
    """`tables`: full names, by which one that was lost is told from one that is new."""

    __pydantic_config__ = EXACTLY

    number: int
    digest: str
    tables: list[str]


def present_schema() -> Schema:
    """The one that this moldau makes."""
    contracts = repr(list(tables().values()))
    return Schema(NUMBER, hashlib.sha256(contracts.encode()).hexdigest(), sorted(tables()))


def of_an_earlier_version(warehouse: Path) -> str | None:
    """In words, with what to do; None = it is of this version. MoldauError if of a later one."""
    if read_schema(warehouse) == present_schema():
        return None
    return f"{warehouse} is of an earlier version of moldau: `moldau init` lets it grow up"


def read_schema(warehouse: Path) -> Schema:
    """The one of a warehouse that exists; MoldauError if a later moldau made it."""
    try:
        with looking_at(warehouse / SCHEMA):
            found = read_note(warehouse / SCHEMA, Schema)
    except OtherVersion as error:
        raise _later(warehouse, str(error)) from None
    except (DamagedError, NotUnderstood):  # to grow up twice does no harm
        return Schema(1, "", _OF_0_1.split())
    if found.number > NUMBER:
        raise _later(warehouse, f"its schema is {found.number}, and this moldau knows {NUMBER}")
    return found


def write_schema(warehouse: Path) -> None:
    write_note(warehouse / SCHEMA, present_schema())


def _later(warehouse: Path, why: str) -> MoldauError:
    return MoldauError(f"{warehouse} is of a later version of moldau ({why}): upgrade moldau")
