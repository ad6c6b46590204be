"""The plugin `directory`: one file a group, which no name can lead astray."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from plugin_support import ODD_NAMES, plugin, round_trips, the_last_one_counts

from moldau.plugins.directory import file_name


def test_descriptions_of_odd_names_come_back(tmp_path: Path) -> None:
    place = str(tmp_path / "descriptions")
    stored = plugin("directory", tmp_path, path=place)
    round_trips(stored, plugin("directory", tmp_path, "west", path=place), [*ODD_NAMES, ""])
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


def test_the_last_one_counts(tmp_path: Path) -> None:
    the_last_one_counts(plugin("directory", tmp_path, path="x"))


def test_any_file_system_of_fsspec_will_do() -> None:
    place = "memory://descriptions"
    nowhere = Path("/nowhere")
    stored = plugin("directory", nowhere, path=place)
    round_trips(stored, plugin("directory", nowhere, "west", path=place), ODD_NAMES[:6])


def test_a_file_says_what_it_holds_and_lies_beside_nothing_unfinished(tmp_path: Path) -> None:
    plugin("directory", tmp_path, "a/b", path="./d").set_topology("o'rders", 4, {"x": [1]})
    (file,) = (file for file in tmp_path.rglob("*") if file.is_file())
    assert file == tmp_path / "project" / "d" / "a%2Fb" / "o%27rders.json"
    assert json.loads(file.read_bytes()) == {
        "group_id": "o'rders",
        "topology_epoch": 4,
        "description": {"x": [1]},
    }


def test_every_name_stays_in_the_folder_and_has_its_own_file(tmp_path: Path) -> None:
    stored = plugin("directory", tmp_path, "..", path="d")
    for name in ODD_NAMES:
        stored.set_topology(name, 1, name)
    assert len(os.listdir(tmp_path / "project" / "d" / "%2E.")) == len(ODD_NAMES)
    assert os.listdir(tmp_path) == ["project"]
    assert max(len(file_name(name)) for name in ODD_NAMES) <= 200


def test_a_file_of_another_group_is_not_taken_for_its_own(tmp_path: Path) -> None:
    stored = plugin("directory", tmp_path, path="d")
    stored.set_topology("a", 1, "of a")
    folder = tmp_path / "project" / "d" / "east"
    (folder / "a.json").rename(folder / "b.json")
    assert stored.get_topology("b", 1) is None


def test_a_write_that_fails_leaves_the_former_description(tmp_path: Path) -> None:
    stored = plugin("directory", tmp_path, path="d")
    stored.set_topology("a", 1, "first")
    with pytest.raises(TypeError):
        stored.set_topology("a", 2, object())
    assert stored.get_topology("a", 1) == "first"
