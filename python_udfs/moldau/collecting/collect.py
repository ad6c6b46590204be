"""Ask a cluster for all snapshots that only an admin client is told."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from moldau.collecting.asker import Asker, asking
from moldau.collecting.configs import topic_configs
from moldau.collecting.known import Known
from moldau.collecting.listings import group_listings
from moldau.collecting.offsets import hidden_rows, partition_states
from moldau.collecting.topics import OFFSETS, Topic, topics_of
from moldau.collecting.transactions import open_transactions
from moldau.dumping.client_settings import ClientSettings
from moldau.errors import MoldauError
from moldau.runs.same_cluster import refuse_another

Rows = list[dict[str, Any]]


@dataclass
class Collected:
    """`rows` by kind of file: a kind that the cluster did not tell as a whole is not among them.

    `findings`: a line for everything that stays unknown, and why.
    """

    rows: dict[str, Rows] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)

    def keep(self, kind: str, ask: Callable[[], tuple[Rows, list[str]]]) -> Rows | None:
        """The rows of a kind, None = it could not be asked for: the snapshot before it stays."""
        try:
            rows, findings = ask()
        except MoldauError as error:
            self.findings.append(f"{kind}: {error}")
            return None
        self.rows[kind] = rows
        self.findings += findings
        return rows


def collect(settings: ClientSettings, timeout: float, known: Known) -> Collected:
    """Everything, in one pass. `timeout` in seconds: how long a broker may be silent.

    MoldauError in one line if the cluster cannot be reached, does not list its topics, or is
    another one than that which is known by its name.
    """
    with asking(settings, timeout) as asker:
        return _collected(asker, known)


def _collected(asker: Asker, known: Known) -> Collected:
    named = [*known.partitions, *([OFFSETS] if known.offsets_id else [])]
    topics, denied = topics_of(asker, named)
    refuse_another(known.offsets_id, _offsets_id(topics, denied), known.cluster_id)
    found = Collected()
    found.findings += [
        f"{name}: TOPIC_AUTHORIZATION_FAILED (DESCRIBE); its ends are unknown" for name in denied
    ]
    if not topics:
        found.findings.append("the client sees no topic: there is none, or DESCRIBE is missing")

    def states() -> tuple[Rows, list[str]]:
        rows, findings = partition_states(asker, topics)
        hidden = {name: known.partitions.get(name, ()) for name in denied}
        return rows + hidden_rows(hidden), findings

    told = found.keep("partition_states", states)
    found.keep("topic_configs", lambda: topic_configs(asker, topics, known.configs))
    listed = found.keep("group_listings", lambda: (group_listings(asker), []))
    if told is not None and listed is not None:
        found.keep("open_transactions", lambda: open_transactions(asker, topics, told, listed))
    return found


def _offsets_id(topics: Sequence[Topic], denied: Collection[str]) -> str | None:
    """ "" = there is no __consumer_offsets; null = the client may not see that, or it has no id."""
    found = [topic.topic_id for topic in topics if topic.name == OFFSETS]
    return found[0] if found else None if OFFSETS in denied else ""
