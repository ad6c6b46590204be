"""Commit files: Delta's log says for what, with metrics, as Spark does.

Delta's library calls whatever it is given WRITE, and takes no other name.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

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

    if not is_plain(opened):
        once = CommitProperties(max_commit_retries=0)
        opened.create_write_transaction(
            list(actions), "append", opened.schema(), commit_properties=once
        )
        opened.update_incremental()
        return
    same = " AND ".join(f"(t.{name} = s.{name})" for name in key)
    metrics = {f"numTargetRows{kind.title()}": number for kind, number in rows.items()}
    added, removed = _counts(actions)
    metrics |= {"numTargetFilesAdded": added, "numTargetFilesRemoved": removed}
    metrics["executionTimeMs"] = now_ms() - began_at_ms
    _commit(opened, actions, "MERGE", {"predicate": json.dumps([same])}, metrics)


def commit_added(
    opened: DeltaTable, added: Sequence[AddAction], mode: Literal["append", "overwrite"]
) -> None:
    """Make one commit of new files, whoever has made which meanwhile; the table is at it then.

    The library's own commit looks through all of the log: what it costs grows with it.
    """
    from deltalake.exceptions import CommitFailedError

    if mode == "append" and is_plain(opened):
        size = sum(action.size for action in added)
        metrics = {"numFiles": len(added), "numOutputBytes": size}
        parameters = {"mode": "Append", "partitionBy": "[]"}
        with contextlib.suppress(CommitFailedError):  # the library knows what may be beside it
            _commit(opened, added, "WRITE", parameters, metrics, is_blind=True)
            return
    opened.create_write_transaction(list(added), mode, opened.schema())
    opened.update_incremental()


def commit_joined(opened: DeltaTable, actions: Sequence[AddAction | RemoveAction]) -> None:
    """The same rows in other files: no reader of changes has to look at them."""
    added, removed = _counts(actions)
    metrics = {"numAddedFiles": added, "numRemovedFiles": removed}
    _commit(opened, actions, "OPTIMIZE", {"predicate": "[]"}, metrics, is_change=False)


def _commit(
    opened: DeltaTable,
    actions: Sequence[AddAction | RemoveAction],
    operation: str,
    parameters: Mapping[str, str],
    metrics: Mapping[str, int],
    is_change: bool = True,
    is_blind: bool = False,
) -> None:
    from deltalake.exceptions import CommitFailedError

    version = opened.version() + 1
    told = {
        "timestamp": now_ms(),
        "operation": operation,
        "operationParameters": dict(parameters),
        "operationMetrics": {name: str(number) for name, number in metrics.items()},
        "isBlindAppend": is_blind,
        "engineInfo": "moldau",
    }
    folder = Path(path_of(opened.table_uri))
    try:
        files = (_as_json(action, is_change) for action in actions)
        write_commit(folder, version, [{"commitInfo": told}, *files])
    except FileExistsError:
        raise CommitFailedError(f"there is a version {version} already") from None
    opened.update_incremental()
    properties = opened.metadata().configuration
    if version % int(properties.get("delta.checkpointInterval", 100)) == 0:
        opened.create_checkpoint()
        if cleans_up(opened):
            opened.cleanup_metadata()


def cleans_up(opened: DeltaTable) -> bool:
    """Its log may be shortened."""
    properties = opened.metadata().configuration
    return bool(properties.get("delta.enableExpiredLogCleanup") != "false")


def is_plain(opened: DeltaTable) -> bool:
    """It asks nothing of a commit but its files."""
    protocol = opened.protocol()
    if protocol.min_writer_version <= _BEFORE_FEATURES:
        return True
    return protocol.writer_features is not None and _HARMLESS.issuperset(protocol.writer_features)


def _counts(actions: Sequence[AddAction | RemoveAction]) -> tuple[int, int]:
    """Files that are added, and removed."""
    from deltalake.transaction import AddAction

    added = sum(isinstance(action, AddAction) for action in actions)
    return added, len(actions) - added


def _as_json(action: Any, is_change: bool) -> dict[str, Any]:
    """As the log has it; paths come as it has them."""
    from deltalake.transaction import AddAction

    if isinstance(action, AddAction):
        return {
            "add": {
                "path": action.path,
                "partitionValues": dict(action.partition_values),
                "size": action.size,
                "modificationTime": action.modification_time,
                "dataChange": is_change,
                "stats": action.stats,
            }
        }
    return {
        "remove": {
            "path": action.path,
            "deletionTimestamp": action.deletion_timestamp,
            "dataChange": is_change,
            "extendedFileMetadata": False,
        }
    }
