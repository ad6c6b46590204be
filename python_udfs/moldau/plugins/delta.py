"""Descriptions in a Delta table of the warehouse: one commit a batch, by MERGE, without Spark.

A batch that changes nothing makes no commit. Writers that get in each other's way try again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from moldau.plugins.places import absolute, is_local
from moldau.plugins.protocol import TopologyDescriptionPlugin
from moldau.warehouse.upkeep import SELDOM, delete_unneeded

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

TABLE = Path("plugin", "topology_descriptions")
ATTEMPTS = 25
_SAME_GROUP = "held.cluster_id = given.cluster_id and held.group_id = given.group_id"
_IS_OTHER = (
    "held.topology_epoch <> given.topology_epoch "
    "or held.description is distinct from given.description"
)


class DeltaPlugin(TopologyDescriptionPlugin):
    """Rows (cluster_id, group_id, topology_epoch, description, written_at_ms), keyed by the
    first two; `description` is JSON text, null = there was none."""

    public_options = ("path",)

    def __init__(
        self, path: str | None = None, storage_options: dict[str, str] | None = None
    ) -> None:
        """`path`: folder or URL of the table; None = its place in the warehouse."""
        self._path = path
        self._storage_options = storage_options

    def open(self, cluster_id: str, warehouse: Path, folder: Path) -> None:
        import deltalake  # noqa: F401  # now: it takes a second or more, and calls are timed
        import pyarrow  # noqa: F401
        import tenacity  # noqa: F401

        self._cluster_id = cluster_id
        self._uri = absolute(self._path or str(warehouse.absolute() / TABLE), folder)
        if is_local(self._uri) and unquote(self._uri) != self._uri:
            raise OSError("a path with % and two hex digits is read as a URL by Delta: move it")

    def set_topology(self, group_id: str, topology_epoch: int, description: Any) -> None:
        self.set_topologies([(group_id, topology_epoch, description)])

    def delete_topology(self, group_id: str) -> None:
        self.delete_topologies([group_id])

    def set_topologies(self, descriptions: Sequence[tuple[str, int, Any]]) -> None:
        """Of a group that is given twice the last one counts."""
        last = {group_id: (epoch, given) for group_id, epoch, given in descriptions}
        columns: dict[str, list[Any]] = {
            "topology_epoch": [epoch for epoch, _ in last.values()],
            "description": [None if it is None else json.dumps(it) for _, it in last.values()],
            "written_at_ms": [time.time_ns() // 1_000_000] * len(last),
        }
        source = self._rows(list(last), columns)

        def merge() -> None:
            merger = self._table().merge(source, _SAME_GROUP, "given", "held")
            merger.when_matched_update_all(_IS_OTHER).when_not_matched_insert_all().execute()

        self._change(merge)

    def delete_topologies(self, group_ids: Sequence[str]) -> None:
        source = self._rows(list(dict.fromkeys(group_ids)))

        def merge() -> None:
            merger = self._table().merge(source, _SAME_GROUP, "given", "held")
            merger.when_matched_delete().execute()

        self._change(merge)

    def _change(self, merge: Callable[[], None]) -> None:
        _again_on_conflict(merge)
        if (changed := self._table()).version() % SELDOM == 0:
            delete_unneeded(changed)

    def get_topology(self, group_id: str, topology_epoch: int) -> Any:
        found = self._held(
            "description",
            f"group_id = {_text(group_id)} and topology_epoch = {int(topology_epoch)}",
        )
        return json.loads(found[0][0]) if found and found[0][0] is not None else None

    def list_topologies(self) -> list[tuple[str, int]]:
        return self._held("group_id, topology_epoch")

    def _held(self, columns: str, condition: str = "true") -> list[tuple[Any, ...]]:
        """What the table has of the cluster."""
        import pyarrow as pa
        from deltalake import QueryBuilder

        query = QueryBuilder().register("descriptions", self._table())
        found = query.execute(
            f"select {columns} from descriptions "
            f"where cluster_id = {_text(self._cluster_id)} and {condition}"
        )
        told = [column.to_pylist() for column in pa.table(found.read_all()).columns]
        return list(zip(*told, strict=True))

    def _table(self) -> DeltaTable:
        """The table at its latest version; made anew where there is none."""
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        try:
            return DeltaTable(self._uri, storage_options=self._storage_options)
        except TableNotFoundError:
            if is_local(self._uri):
                os.makedirs(self._uri, exist_ok=True)
            return DeltaTable.create(
                self._uri, _schema(), mode="ignore", storage_options=self._storage_options
            )

    def _rows(self, group_ids: list[str], columns: dict[str, list[Any]] | None = None) -> pa.Table:
        import pyarrow as pa

        keys = {"cluster_id": [self._cluster_id] * len(group_ids), "group_id": group_ids}
        content = keys | (columns or {})
        return pa.table(content, schema=pa.schema([_schema().field(name) for name in content]))


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("cluster_id", pa.string(), nullable=False),
            pa.field("group_id", pa.string(), nullable=False),
            pa.field("topology_epoch", pa.int32(), nullable=False),
            pa.field("description", pa.string()),
            pa.field("written_at_ms", pa.int64(), nullable=False),
        ]
    )


def _text(value: str) -> str:
    """A text for DataFusion's SQL as hex digits: nothing in it can end the literal."""
    return f"arrow_cast(decode('{value.encode().hex()}', 'hex'), 'Utf8')"


def _again_on_conflict(merge: Callable[[], None]) -> None:
    """Merge; after a conflict with another writer read the table anew, a bounded number of times.

    Whoever loses a race has lost it to a commit that was made, so somebody always gets on.
    """
    from deltalake.exceptions import CommitFailedError
    from tenacity import Retrying, retry_if_exception_type, stop_after_attempt
    from tenacity.wait import wait_random_exponential

    Retrying(
        retry=retry_if_exception_type(CommitFailedError),
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_random_exponential(multiplier=0.02, max=0.5),
        reraise=True,
    )(merge)
