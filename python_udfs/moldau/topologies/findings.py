"""Find what Kafka accepts in a topology description although no such topology could run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from moldau.topologies.description import Node, TopologyDescription


def findings(description: TopologyDescription) -> list[str]:
    """Doubled ids and names, successors that are no nodes, cycles: one sentence each."""
    return list(_findings(description))


def _findings(description: TopologyDescription) -> Iterator[str]:
    ids = Counter(part.id for part in description.subtopologies)
    yield from (f"subtopology {id!r} is there {n} times" for id, n in ids.items() if n > 1)
    scopes = [(f"subtopology {part.id!r}", part.nodes) for part in description.subtopologies]
    scopes += [
        (f"global store {number}", (store.source, store.processor))
        for number, store in enumerate(description.global_stores)
    ]
    for scope, nodes in scopes:
        yield from _findings_of(scope, nodes)
    everywhere = Counter(name for _, nodes in scopes for name in {node.name for node in nodes})
    yield from (f"node {name!r} is in {n} subtopologies" for name, n in everywhere.items() if n > 1)


def _findings_of(scope: str, nodes: Sequence[Node]) -> Iterator[str]:
    names = Counter(node.name for node in nodes)
    yield from (f"{scope}: node {name!r} is there {n} times" for name, n in names.items() if n > 1)
    for node in nodes:
        for successor in node.successors:
            if successor not in names:
                yield f"{scope}: {node.name!r} is followed by {successor!r}, which is no node"
            elif any(other.type == "source" for other in nodes if other.name == successor):
                yield f"{scope}: {node.name!r} is followed by {successor!r}, which is a source"
        if node.type == "sink" and node.successors:
            yield f"{scope}: {node.name!r} is a sink and is followed by nodes"
    graph = TopologicalSorter({node.name: set(node.successors) & set(names) for node in nodes})
    try:
        graph.prepare()
    except CycleError as error:
        yield f"{scope}: a cycle of {' -> '.join(map(repr, error.args[1]))}"
