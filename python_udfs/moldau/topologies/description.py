"""A topology description, and the wire shape in which it is pushed, stored and described.

Source of the rules: StreamsGroupTopologyDescriptionConverter of Kafka 4.4 (KIP-1331).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

SOURCE, PROCESSOR, SINK = 1, 2, 3  # nodeType on the wire
TYPES = {SOURCE: "source", PROCESSOR: "processor", SINK: "sink"}
NUMBERS = {name: number for number, name in TYPES.items()}


class InvalidTopology(ValueError):
    """Kafka answers INVALID_REQUEST with this message."""


@dataclass(frozen=True)
class Node:
    """What belongs to its type: `topics` to a source, `stores` to a processor, `topic` to a sink.

    `topic`: None = the sink chooses it for each record.
    """

    type: str
    name: str
    successors: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    topic: str | None = None


@dataclass(frozen=True)
class Subtopology:
    id: str
    nodes: tuple[Node, ...] = ()


@dataclass(frozen=True)
class GlobalStore:
    source: Node
    processor: Node


@dataclass(frozen=True)
class TopologyDescription:
    """Subtopologies, nodes and names in the order in which they came; each name once."""

    subtopologies: tuple[Subtopology, ...] = ()
    global_stores: tuple[GlobalStore, ...] = ()


def from_wire(payload: Any) -> TopologyDescription:
    """What a client pushed or a plugin gave back, by Kafka's JSON names.

    Fields of other node types are ignored; what is absent has the default of Kafka's schema.
    InvalidTopology for a node of unknown type, a global store that is not a source with a
    processor, or a payload that is none of Kafka's.
    """
    if not isinstance(payload, Mapping):
        raise InvalidTopology("the description is not an object")
    return TopologyDescription(
        tuple(
            Subtopology(_text(part, "subtopologyId"), tuple(map(_node, _objects(part, "nodes"))))
            for part in _objects(payload, "subtopologies")
        ),
        tuple(map(_global_store, _objects(payload, "globalStores"))),
    )


def to_wire(description: TopologyDescription) -> dict[str, Any]:
    """What plugins are given and StreamsGroupDescribe answers, with every field of the schema."""
    return {
        "subtopologies": [
            {"subtopologyId": part.id, "nodes": list(map(_wire_node, part.nodes))}
            for part in description.subtopologies
        ],
        "globalStores": [
            {"source": _wire_node(store.source), "processor": _wire_node(store.processor)}
            for store in description.global_stores
        ],
    }


def _node(node: Mapping[str, Any]) -> Node:
    number = node.get("nodeType", 0)
    if not _is_type(number, *TYPES):
        raise InvalidTopology(f"Unknown topology node type: {number}")
    type_, name, successors = TYPES[number], _text(node, "name"), _names(node, "successors")
    if number == SOURCE:
        return Node(type_, name, successors, topics=_names(node, "sourceTopics"))
    if number == PROCESSOR:
        return Node(type_, name, successors, stores=_names(node, "stores"))
    is_dynamic = node.get("sinkTopic") is None
    return Node(type_, name, successors, topic=None if is_dynamic else _text(node, "sinkTopic"))


def _global_store(store: Mapping[str, Any]) -> GlobalStore:
    source, processor = (_object(store, name) for name in ("source", "processor"))
    if not (
        _is_type(source.get("nodeType"), SOURCE) and _is_type(processor.get("nodeType"), PROCESSOR)
    ):
        raise InvalidTopology("Global store must be composed of a source and a processor node.")
    return GlobalStore(_node(source), _node(processor))


def _is_type(given: Any, *types: int) -> bool:
    """JSON's true is no number, though Python takes it for 1."""
    return isinstance(given, int) and not isinstance(given, bool) and given in types


def _wire_node(node: Node) -> dict[str, Any]:
    return {
        "name": node.name,
        "nodeType": NUMBERS[node.type],
        "sourceTopics": list(node.topics),
        "sinkTopic": node.topic,
        "stores": list(node.stores),
        "successors": list(node.successors),
    }


def _objects(parent: Mapping[str, Any], name: str) -> Iterable[Mapping[str, Any]]:
    told = parent.get(name, [])
    if not isinstance(told, list) or not all(isinstance(item, Mapping) for item in told):
        raise InvalidTopology(f"{name} is not a list of objects")
    return told


def _object(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    told = parent.get(name)
    if not isinstance(told, Mapping):
        raise InvalidTopology(f"{name} is not an object")
    return told


def _text(parent: Mapping[str, Any], name: str) -> str:
    told = parent.get(name, "")
    if not isinstance(told, str):
        raise InvalidTopology(f"{name} is not a text")
    return told


def _names(parent: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Each once, where it was first."""
    told = parent.get(name, [])
    if not isinstance(told, list) or not all(isinstance(item, str) for item in told):
        raise InvalidTopology(f"{name} is not a list of texts")
    return tuple(dict.fromkeys(told))
