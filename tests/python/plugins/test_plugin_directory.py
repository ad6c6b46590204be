"""The plugin `directory`: one file a group, which no name can lead astray."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import example, given
from hypothesis import strategies as st
from plugin_support import ODD_NAMES, plugin, round_trips, the_last_one_counts

from moldau.plugins.directory import file_name, former_name


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
        "cluster_id": "a/b",
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


class CaseBlind(MemoryFileSystem):  # type: ignore[misc]
    """Keeps the case of what it is given first and ignores it ever after, as on macOS."""

    protocol = "caseblind"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        found = ""
        for part in path.removeprefix("caseblind://").strip("/").split("/"):
            known = [it for it in [*cls.store, *cls.pseudo_dirs] if it.startswith(f"{found}/")]
            names = {it[len(found) + 1 :].split("/")[0] for it in known}
            found += "/" + next((it for it in names if it.lower() == part.lower()), part)
        return found.rstrip("/")


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> str:
    fsspec.register_implementation("caseblind", CaseBlind, clobber=True)
    CaseBlind.clear_instance_cache()
    monkeypatch.setattr(CaseBlind, "store", {})
    monkeypatch.setattr(CaseBlind, "pseudo_dirs", [""])
    return "caseblind://d"


NAMES = ["App", "app", "APP", "aPP", "%2f", "%2F", "/", "\xc3", "\xe3", "ß", "ss", "SS"]
NAMES += [letter * 300 for letter in ("x", "X")]


def as_before(place: str, cluster_id: str, group_id: str, **more: Any) -> None:
    """A description where moldau 0.1.0 wrote it."""
    files, root = fsspec.core.url_to_fs(place)
    folder = f"{root}/{former_name(cluster_id)}"
    files.makedirs(folder, exist_ok=True)
    stored = {"group_id": group_id, "topology_epoch": 1, "description": f"of {group_id}"} | more
    files.pipe_file(f"{folder}/{former_name(group_id)}.json", json.dumps(stored).encode())


def test_names_that_differ_by_case_are_two_where_case_is_ignored(blind: str) -> None:
    nowhere = Path("/nowhere")
    stored, other = (plugin("directory", nowhere, name, path=blind) for name in ("East", "east"))
    round_trips(stored, other, NAMES)
    round_trips(other, stored, NAMES)
    assert CaseBlind.store == {}


@given(st.text(), st.text())
@example("App", "aPP")
@example("\N{KELVIN SIGN}", "k")
@example("X" * 300, "x" * 300)
@example("A" * 60 + "x" * 100, "%41" * 60 + "x" * 100)
def test_no_two_names_are_one_file_whatever_is_done_about_case(one: str, other: str) -> None:
    names = [file_name(one), file_name(other)]
    assert (one == other) == (names[0].casefold() == names[1].casefold())
    assert all(name.isascii() and len(name) <= 200 and "/" not in name for name in names)


@pytest.mark.parametrize("place", ["d", "caseblind://d"])
@pytest.mark.parametrize("cluster_id", ["east", "East"])
@pytest.mark.usefixtures("blind")
def test_what_an_earlier_version_wrote_is_found_moved_and_deleted(
    tmp_path: Path, place: str, cluster_id: str
) -> None:
    where = place if "://" in place else str(tmp_path / place)
    for group in ("App", "lower", "B" * 150, "C"):
        as_before(where, cluster_id, group)
    stored = plugin("directory", tmp_path, cluster_id, path=where)
    for group in ("App", "lower", "B" * 150, "C"):
        assert stored.get_topology(group, 1) == f"of {group}"
        assert stored.get_topology(group, 2) is None
        assert stored.get_topology(group.swapcase(), 1) is None
    stored.delete_topology("app")
    assert stored.get_topology("App", 1) == "of App"
    stored.set_topology("App", 2, "anew")
    assert stored.get_topology("App", 1) is None
    assert stored.get_topology("App", 2) == "anew"
    for group in ("App", "lower", "B" * 150, "C"):
        stored.delete_topology(group)
        assert stored.get_topology(group, 1) is None
    files, root = fsspec.core.url_to_fs(where)
    assert files.find(root) == []


def test_a_description_makes_way_for_one_whose_name_was_its_own(blind: str) -> None:
    """An earlier version put `App` where `app` goes now."""
    as_before(blind, "east", "App")
    stored = plugin("directory", Path("/nowhere"), "east", path=blind)
    stored.set_topology("app", 1, "of app")
    assert stored.get_topology("App", 1) == "of App"
    assert stored.get_topology("app", 1) == "of app"


def test_the_folder_of_another_cluster_is_not_taken_for_its_own(blind: str) -> None:
    as_before(blind, "East", "App")
    with pytest.raises(OSError, match="East in /d is taken for east: rename it to %45ast"):
        plugin("directory", Path("/nowhere"), "east", path=blind)
    files, _ = fsspec.core.url_to_fs(blind)
    files.mv("/d/East/App.json", "/d/%45ast/App.json")
    del CaseBlind.pseudo_dirs[:]
    stored = plugin("directory", Path("/nowhere"), "east", path=blind)
    assert stored.get_topology("App", 1) is None
    moved = plugin("directory", Path("/nowhere"), "East", path=blind)
    assert moved.get_topology("App", 1) == "of App"
    as_before(blind, "north", "App")
    assert plugin("directory", Path("/nowhere"), "North", path=blind).get_topology("App", 1) is None


def test_what_is_no_description_is_said_and_can_be_deleted(tmp_path: Path) -> None:
    stored = plugin("directory", tmp_path, path="d")
    stored.set_topology("a", 1, "first")
    (tmp_path / "project" / "d" / "east" / "a.json").write_text("[")
    with pytest.raises(ValueError, match="does not hold a description"):
        stored.get_topology("a", 1)
    stored.delete_topology("a")
    assert stored.get_topology("a", 1) is None
