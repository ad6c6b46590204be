"""Commit a merge that rewrote files: Delta's log calls it MERGE, with its metrics, as Spark does.

Delta's library calls whatever it is given WRITE, and takes no other name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from moldau.instants import now_ms
from moldau.warehouse.damage import path_of
from moldau.warehouse.delta_log import write_commit

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from deltalake.transaction import AddAction, RemoveAction

# features of a table that ask nothing of who replaces whole files
_HARMLESS = {"appendOnly", "checkConstraints", "deletionVectors", "invariants"}
_BEFORE_FEATURES = 3  # version of the protocol; a later one may ask for more in each commit


def commit_merge(
    opened: DeltaTable,
    actions: Sequence[AddAction | RemoveAction],
    key: Sequence[str],
    rows: Mapping[str, int],
    began_at_ms: int,
) -> None:
    """Make one commit of these files; the table is at its new version then.

    `rows`: how many are `inserted`, `updated` and `deleted`. CommitFailedError if there is a later
    version already.
    """
    from deltalake import CommitProperties
    from deltalake.exceptions import CommitFailedError

    if not _is_plain(opened):
        once = CommitProperties(max_commit_retries=0)
        opened.create_write_transaction(
            list(actions), "append", opened.schema(), commit_properties=once
        )
        opened.update_incremental()
        return
    version = opened.version() + 1
    told = {"commitInfo": _information(actions, key, rows, began_at_ms)}
    folder = Path(path_of(opened.table_uri))
    try:
        write_commit(folder, version, [told, *map(_as_json, actions)])
    except FileExistsError:
        raise CommitFailedError(f"there is a version {version} already") from None
    opened.update_incremental()
    properties = opened.metadata().configuration
    if version % int(properties.get("delta.checkpointInterval", 100)) == 0:
        opened.create_checkpoint()
        if properties.get("delta.enableExpiredLogCleanup") != "false":
            opened.cleanup_metadata()


def _is_plain(opened: DeltaTable) -> bool:
    """It asks nothing of a commit but its files."""
    protocol = opened.protocol()
    if protocol.min_writer_version <= _BEFORE_FEATURES:
        return True
    return protocol.writer_features is not None and _HARMLESS.issuperset(protocol.writer_features)


def _information(
    actions: Sequence[AddAction | RemoveAction],
    key: Sequence[str],
    rows: Mapping[str, int],
    began_at_ms: int,
) -> dict[str, Any]:
    from deltalake.transaction import AddAction

    same = " AND ".join(f"(t.{name} = s.{name})" for name in key)
    added = sum(isinstance(action, AddAction) for action in actions)
    metrics = {f"numTargetRows{kind.title()}": number for kind, number in rows.items()}
    metrics |= {"numTargetFilesAdded": added, "numTargetFilesRemoved": len(actions) - added}
    metrics["executionTimeMs"] = now_ms() - began_at_ms
    return {
        "timestamp": now_ms(),
        "operation": "MERGE",
        "operationParameters": {"predicate": json.dumps([same])},
        "operationMetrics": {name: str(number) for name, number in metrics.items()},
        "isBlindAppend": False,
        "engineInfo": "moldau",
    }


def _as_json(action: Any) -> dict[str, Any]:
    """As the log has it."""
    from deltalake.transaction import AddAction

    path = quote(action.path, safe="/=")
    if isinstance(action, AddAction):
        return {
            "add": {
                "path": path,
                "partitionValues": dict(action.partition_values),
                "size": action.size,
                "modificationTime": action.modification_time,
                "dataChange": action.data_change,
                "stats": action.stats,
            }
        }
    return {
        "remove": {
            "path": path,
            "deletionTimestamp": action.deletion_timestamp,
            "dataChange": action.data_change,
            "extendedFileMetadata": False,
        }
    }
