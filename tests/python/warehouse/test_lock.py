"""Who holds the lock of a warehouse."""

from __future__ import annotations

from pathlib import Path

import pytest

from moldau.warehouse.lock import WarehouseInUse, is_held, locked


def test_a_lock_is_held_until_its_command_ends_however_it_ends(tmp_path: Path) -> None:
    held, other = tmp_path / "held", tmp_path / "other"
    with pytest.raises(ZeroDivisionError), locked(held, "first"):
        assert is_held(held / ".." / "held")
        assert not is_held(other)
        raise ZeroDivisionError
    assert not is_held(held)


def test_who_is_refused_takes_the_lock_from_nobody(tmp_path: Path) -> None:
    with locked(tmp_path, "first"):
        with pytest.raises(WarehouseInUse, match="`first`"), locked(tmp_path, "second"):
            pass
        assert is_held(tmp_path)
