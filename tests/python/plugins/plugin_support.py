"""What the tests of the built-in plugins have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moldau.plugins.registry import PluginSpec, make_plugin

ODD_NAMES = [
    "orders",
    "it's",
    'a "quoted" one',
    "back\\slash",
    "'; drop table x; --",
    "nul\0byte",
    "a/b",
    "../../up",
    ".",
    "..",
    "...",
    ".hidden",
    "%2E%2E",
    "50% +&=?#;",
    "line\nbreak\ttab",
    "🦀 é",
    "\uffff" * 90,
    "x" * 32_767,
    "x" * 32_766 + "y",
    "é" * 300,
]


def plugin(name: str, place: Path, cluster_id: str = "east", **options: Any) -> Any:
    return make_plugin(
        PluginSpec(name, options, cluster_id, str(place / "warehouse"), str(place / "project"))
    )


def round_trips(stored: Any, other_cluster: Any, names: list[str]) -> None:
    """Every name is a description of its own; each method may be repeated."""
    for number, name in enumerate(names):
        for _ in range(2):
            stored.set_topology(name, number, {"of": name, "list": [1, None, "é"]})
    for number, name in enumerate(names):
        assert stored.get_topology(name, number) == {"of": name, "list": [1, None, "é"]}, name
        assert stored.get_topology(name, number + 1) is None
        assert other_cluster.get_topology(name, number) is None
    for number, name in enumerate(names):
        other_cluster.delete_topology(name)
        assert stored.get_topology(name, number) is not None, name
        for _ in range(2):
            stored.delete_topology(name)
        assert stored.get_topology(name, number) is None, name


def the_last_one_counts(stored: Any) -> None:
    stored.set_topology("g", 2, "second")
    stored.set_topology("g", 1, "first again")
    assert stored.get_topology("g", 1) == "first again"
    assert stored.get_topology("g", 2) is None
    stored.set_topology("g", 3, None)
    assert stored.get_topology("g", 3) is None
