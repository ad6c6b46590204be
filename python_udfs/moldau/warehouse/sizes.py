"""How much there is to read."""

from __future__ import annotations

from pathlib import Path

from moldau.warehouse.damage import looking_at, open_table


def state_bytes(warehouse: Path) -> int:
    """Bytes of all state at its latest version, as Delta's logs tell."""
    return sum(_bytes(log.parent) for log in (warehouse / "state").glob("*/_delta_log"))


def _bytes(folder: Path) -> int:
    with looking_at(folder):
        sizes: list[int] = open_table(folder).get_add_actions().column("size_bytes").to_pylist()
    return sum(sizes)
