"""Where the nodes of a topology lie: from left to right, each after all that lead to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from moldau.escapes import visible
from moldau.topologies.description import Node, TopologyDescription

_WIDE, _HIGH = 270, 46  # a node
_APART_X, _APART_Y = 60, 18
_MARGIN = 12
_TITLE = 24
_MANY = 300  # nodes that are drawn


@dataclass(frozen=True)
class Box:
    x: int
    y: int
    type: str
    name: str
    under: str
    """Topics or stores."""
    title: str


@dataclass(frozen=True)
class Part:
    title: str
    y: int
    height: int


@dataclass(frozen=True)
class Graph:
    """`arrows`: paths from node to node."""

    width: int
    height: int
    parts: tuple[Part, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[str, ...]
    left_out: int


BOX = (_WIDE, _HIGH)


def graph_of(description: TopologyDescription) -> Graph:
    parts: list[Part] = []
    boxes: list[Box] = []
    arrows: list[str] = []
    y, width, left_out = _MARGIN, 0, 0
    for title, nodes in _parts(description):
        if len(boxes) + len(nodes) > _MANY:
            left_out += len(nodes)
            continue
        placed, below = _placed(nodes, y + _TITLE)
        parts.append(Part(title, y, below - y))
        boxes += placed.values()
        arrows += [
            _arrow(placed[node.name], placed[other])
            for node in nodes
            for other in node.successors
            if other in placed
        ]
        width = max([width, *(box.x + _WIDE for box in placed.values())])
        y = below + _MARGIN
    return Graph(width + 2 * _MARGIN, y, tuple(parts), tuple(boxes), tuple(arrows), left_out)


def _parts(description: TopologyDescription) -> Iterator[tuple[str, Sequence[Node]]]:
    for part in description.subtopologies:
        yield f"Subtopology {visible(part.id, 60)}", part.nodes
    for number, store in enumerate(description.global_stores, len(description.subtopologies)):
        yield f"Subtopology {number}, of a global store", (store.source, store.processor)


def _placed(nodes: Sequence[Node], top: int) -> tuple[dict[str, Box], int]:
    """By name, and where the part ends."""
    depths = _depths(nodes)
    rows: dict[int, int] = {}
    placed = {}
    for node in nodes:
        depth = depths[node.name]
        row = rows[depth] = rows.get(depth, -1) + 1
        under = ", ".join(node.topics or node.stores)
        if node.type == "sink":
            under = "chosen for each record" if node.topic is None else node.topic
        placed[node.name] = Box(
            2 * _MARGIN + depth * (_WIDE + _APART_X),
            top + _MARGIN // 2 + row * (_HIGH + _APART_Y),
            node.type,
            visible(node.name, 33),
            visible(under, 34),
            visible(
                f"{node.type} {node.name}: {under}" if under else f"{node.type} {node.name}", 300
            ),
        )
    high = max(rows.values(), default=-1) + 1
    return placed, top + _MARGIN + high * (_HIGH + _APART_Y)


def _depths(nodes: Sequence[Node]) -> dict[str, int]:
    """The longest way to each node; one around which the graph goes in a circle stays where it is
    after as many rounds as there are nodes."""
    depths = {node.name: 0 for node in nodes}
    for _ in nodes:
        moved = False
        for node in nodes:
            for other in node.successors:
                if other in depths and depths[other] <= depths[node.name] < len(nodes) - 1:
                    depths[other] = depths[node.name] + 1
                    moved = True
        if not moved:
            break
    return depths


def _arrow(one: Box, other: Box) -> str:
    x, y, to_x, to_y = one.x + _WIDE, one.y + _HIGH // 2, other.x, other.y + _HIGH // 2
    bend = max(_APART_X // 2, abs(to_x - x) // 3)
    return f"M{x} {y}C{x + bend} {y} {to_x - bend} {to_y} {to_x - 2} {to_y}"
