"""The clusters of a warehouse, and those that a run is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.reading.tables.names_of import is_warehouse
from moldau.warehouse.ask import ask_rows

if TYPE_CHECKING:
    from moldau.sessions.session import Session
    from moldau.settings import Settings


def loaded_clusters(settings: Settings) -> set[str]:
    """Clusters whose settings a run has recorded."""
    sql = "select distinct cluster_id from t"
    return {name for (name,) in ask_rows(settings.warehouse, "state.settings", sql)}


def known_clusters(settings: Settings) -> list[str]:
    """Clusters that were loaded or stand in the settings."""
    return sorted(loaded_clusters(settings) | set(settings.named_clusters()))


def rulesets_of(settings: Settings, cluster_id: str) -> dict[str, str]:
    """The rule set of each domain that the settings give the cluster."""
    rulesets: dict[str, str] = settings.cluster(cluster_id).ruleset.model_dump()
    return rulesets


def scope_of(session: Session, clusters: Sequence[str]) -> list[str]:
    """These clusters, or every known one; MoldauError if one is not known, or there is none."""
    return scope_among(known_clusters(session.settings), clusters)


def scope_among(known: Sequence[str], clusters: Sequence[str]) -> list[str]:
    """The same of clusters that are known already."""
    unknown = [name for name in clusters if name not in known]
    if unknown:
        raise MoldauError(
            f"cluster {unknown[0]!r} is not known: "
            f"{', '.join(known) or 'nothing was loaded yet, and moldau.yml names none'}"
        )
    if not known:
        raise MoldauError("there is no cluster yet: `moldau load` brings the records of one")
    return sorted(set(clusters)) or list(known)


def require_clusters(settings: Settings, clusters: Sequence[str]) -> None:
    """MoldauError before a warehouse is made for a run that would be refused."""
    if not is_warehouse(settings.warehouse):
        scope_among(sorted(settings.named_clusters()), clusters)
