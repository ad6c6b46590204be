"""How much there is to read."""

from __future__ import annotations

from pathlib import Path

from moldau.warehouse.damage import open_table


def state_bytes(warehouse: Path) -> int:
    """Bytes of all state at its latest version, as Delta's logs tell."""
    folders = [folder for folder in (warehouse / "state").iterdir() if folder.is_dir()]
    return sum(_bytes(folder) for folder in folders)


def _bytes(folder: Path) -> int:
    sizes: list[int] = open_table(folder).get_add_actions().column("size_bytes").to_pylist()
    return sum(sizes)
