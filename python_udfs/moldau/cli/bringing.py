"""What is new in a running cluster, for `moldau collect` and for each interval of a watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from moldau.cli.reaching import needs_client
from moldau.settings import Settings

if TYPE_CHECKING:
    from moldau.collecting.collect import Collected
    from moldau.dumping.client_settings import ClientSettings
    from moldau.loading.bring import Loaded
    from moldau.sessions.session import Session
    from moldau.warehouse.log_spans import Source


def collected(
    settings: Settings, cluster: str, reached: ClientSettings, timeout: float
) -> Collected:
    """The snapshots that are others than those that the warehouse has."""
    with needs_client("moldau collect"):
        from moldau.collecting.collect import collect
        from moldau.collecting.known import known_of
    known = known_of(settings.warehouse.resolve(), cluster)
    found = collect(reached, timeout, known)
    if not known.has_open_transactions and not found.rows.get("open_transactions"):
        found.rows.pop("open_transactions", None)  # there were none, and there are none
    if not found.rows.get("topic_configs"):
        found.rows.pop("topic_configs", None)  # nothing has changed
    return found


class Bringing:
    """Reads and asks the clusters that moldau.yml says how to reach.

    `warn` is told lines for a person. `timeout` in seconds: how long a cluster may be silent.
    """

    def __init__(self, settings: Settings, timeout: float, warn: Callable[[str], None]) -> None:
        self._settings, self._timeout, self._warn = settings, timeout, warn
        self._sources: dict[str, Source] = {}
        if any(self.reaches(name) for name in settings.clusters):
            with needs_client("moldau watch"):
                import moldau.collecting.collect
                import moldau.dumping.source  # noqa: F401

    def reaches(self, cluster: str) -> bool:
        told = self._settings.cluster(cluster)
        return bool(told.bootstrap_servers or told.properties)

    def bring(self, cluster: str, session: Callable[[], Session]) -> Iterator[Loaded]:
        """What the logs have beyond what is read, then snapshots; each load when it is complete.

        `session`: opens one on the warehouse, which is locked by the caller, or gives the one that
        is open. MoldauError if the cluster is silent, or another one than before.
        """
        from moldau.dumping.reached import reach
        from moldau.dumping.source import connected
        from moldau.runs.ingest import NOTHING, NothingReadable, ingest, topics_of
        from moldau.runs.load import load_rows

        reached = reach(self._settings, cluster)
        if cluster not in self._sources:
            self._sources[cluster] = connected(reached, self._timeout, self._warn)
        source = self._sources[cluster]
        if not (topics := topics_of(source, [])):
            self._warn(f"{cluster}: {NOTHING}")
        try:
            yield from ingest(session(), cluster, source, topics, self._warn)
        except NothingReadable as error:
            self._warn(f"{cluster}: {error}")
        found = collected(self._settings, cluster, reached, self._timeout)
        for finding in found.findings:
            self._warn(finding)
        for kind, rows in found.rows.items():
            yield load_rows(session(), rows, reached.servers, cluster, kind)
