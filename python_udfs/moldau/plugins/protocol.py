"""What a topology description plugin is: the interface that other people implement.

A plugin is found by its entry point of group `moldau.topology_plugins`. There is one instance per
cluster and worker process, constructed with the options under `plugin:`; its methods are called
from several threads. To derive from the class below is not needed, to have its methods is.

What a plugin may have beside them:

* `open(cluster_id: str, warehouse: Path, folder: Path) -> None`, called once after construction.
  `folder` is what relative paths in the options are relative to.
* `set_topologies(descriptions: Sequence[tuple[str, int, Any]]) -> Mapping[str, Exception] | None`,
  one call for many `(group_id, topology_epoch, description)`.
* `delete_topologies(group_ids: Sequence[str]) -> Mapping[str, Exception] | None`, likewise.
  Both give the failures by group id; None or nothing in it = all went well, to raise = all failed
  the same way.
* `list_topologies() -> Iterable[tuple[str, int]]`, each `(group_id, topology_epoch)` that it has,
  for `moldau topology left-overs`.
* `public_options`, a tuple of the options that are no secrets. Of every other one only the keys are
  stored and shown, and its texts are taken out of what the plugin says, prints or gives as a
  description, in whatever form they stand there; of a public URL neither user, values of the
  query nor fragment are told.

`${env:NAME}` in an option is replaced from the environment before the plugin is constructed.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

idempotency_key: ContextVar[str | None] = ContextVar("idempotency_key", default=None)
"""Names the call under way; the same when it is repeated. None in a batch form."""

time_limit: ContextVar[float | None] = ContextVar("time_limit", default=None)
"""Seconds after which nobody waits for the call under way any more; None = no limit."""


class PermanentFailure(Exception):
    """The call failed and would fail again: it is not repeated."""


class TransientFailure(Exception):
    """The call failed and may succeed later; any other exception means the same."""


class TopologyDescriptionPlugin:
    """Every method is idempotent: calls are repeated when it is not known how they ended.

    A method that raises has failed. With `asynchronous = True` a method returns a future instead
    (or is `async def`), and Kafka's rules hold to the letter: what is raised before there is a
    future, or None instead of one, is a permanent failure.
    """

    asynchronous: bool = False
    public_options: tuple[str, ...] = ()

    def set_topology(self, group_id: str, topology_epoch: int, description: Any) -> Any:
        """Store a description, JSON-able or None, in place of the group's former one."""
        raise NotImplementedError

    def delete_topology(self, group_id: str) -> Any:
        """Forget the group; one that is not there is a success."""
        raise NotImplementedError

    def get_topology(self, group_id: str, topology_epoch: int) -> Any:
        """The description stored at exactly this epoch, or None."""
        raise NotImplementedError
