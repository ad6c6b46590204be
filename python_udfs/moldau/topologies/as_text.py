"""A topology description as text: as `kafka-streams-groups.sh --describe --topology` prints it, as
Mermaid and as Graphviz.

Source of the first: TopologyDescriptionFormatter of Kafka 4.4's tools.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from moldau.escapes import visible
from moldau.topologies.description import Node, TopologyDescription


def as_text(description: TopologyDescription) -> str:
    """Names that belong together are sorted; what has none is `none`, an empty list `[]`."""
    lines = ["Topologies:"]
    for part in description.subtopologies:
        lines += [f"   Sub-topology: {part.id}", *_node_lines(part.nodes), ""]
    for number, store in enumerate(description.global_stores, len(description.subtopologies)):
        lines.append(f"   Sub-topology: {number} for global store (will not generate tasks)")
        lines += [*_node_lines((store.source, store.processor)), ""]
    return "\n".join(map(visible, lines)) + "\n"


def _node_lines(nodes: Sequence[Node]) -> Iterator[str]:
    for node in nodes:
        before = [other.name for other in nodes if node.name in other.successors]
        if node.type == "source":
            yield f"    Source: {node.name} (topics: [{_joined(node.topics)}])"
        elif node.type == "processor":
            yield f"    Processor: {node.name} (stores: [{_joined(node.stores)}])"
        else:
            yield f"    Sink: {node.name} (topic: {'null' if node.topic is None else node.topic})"
        if node.type != "sink":
            yield f"      --> {_joined(node.successors) or 'none'}"
        if node.type != "source":
            yield f"      <-- {_joined(before) or 'none'}"


def _joined(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names)))


def as_mermaid(description: TopologyDescription) -> str:
    """A flowchart; topics and stores stand under the names of their nodes."""
    lines = ["flowchart LR"]
    for number, (title, nodes) in enumerate(_parts(description)):
        ids = {node.name: f"n{number}_{place}" for place, node in enumerate(nodes)}
        lines.append(f'  subgraph s{number}["{_escaped(title)}"]')
        for node in nodes:
            text = "<br/>".join(_escaped(line) for line in _label(node))
            opened, closed = {"source": ("([", "])"), "sink": ("[/", "/]")}.get(
                node.type, ("[", "]")
            )
            lines.append(f'    {ids[node.name]}{opened}"{text}"{closed}')
        lines += [f"    {ids[one]} --> {ids[other]}" for one, other in _edges(nodes)]
        lines.append("  end")
    return "\n".join(lines) + "\n"


def as_dot(description: TopologyDescription) -> str:
    """A digraph for Graphviz, a cluster for each subtopology."""
    lines = ["digraph topology {", "  rankdir=LR;"]
    for number, (title, nodes) in enumerate(_parts(description)):
        ids = {node.name: f"n{number}_{place}" for place, node in enumerate(nodes)}
        lines += [f"  subgraph cluster_{number} {{", f"    label={_quoted(title)};"]
        for node in nodes:
            shape = {"source": "ellipse", "sink": "parallelogram"}.get(node.type, "box")
            label = _quoted("\n".join(_label(node)))
            lines.append(f"    {ids[node.name]} [shape={shape}, label={label}];")
        lines += [f"    {ids[one]} -> {ids[other]};" for one, other in _edges(nodes)]
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def _parts(description: TopologyDescription) -> Iterator[tuple[str, Sequence[Node]]]:
    for part in description.subtopologies:
        yield f"Sub-topology {part.id}", part.nodes
    for number, store in enumerate(description.global_stores, len(description.subtopologies)):
        yield f"Sub-topology {number} (global store)", (store.source, store.processor)


def _edges(nodes: Sequence[Node]) -> Iterator[tuple[str, str]]:
    names = {node.name for node in nodes}
    for node in nodes:
        yield from ((node.name, other) for other in node.successors if other in names)


def _label(node: Node) -> list[str]:
    beside = {
        "source": ", ".join(node.topics),
        "processor": ", ".join(node.stores),
        "sink": node.topic or "",
    }[node.type]
    return [node.name, *([beside] if beside else [])]


def _escaped(text: str) -> str:
    """Mermaid reads HTML entities with `#` in place of `&`."""
    marks = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "\n": " "}
    return "".join(marks.get(letter, letter) for letter in text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
