"""`moldau topology left-overs`: what a plugin holds though no live group vouches for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from deltalake import DeltaTable
from rows_support import Write

from moldau.cli import moldau
from moldau.errors import MoldauError
from moldau.plugins.delta import DeltaPlugin
from moldau.plugins.directory import DirectoryPlugin
from moldau.warehouse.create import create

SETTINGS = """
clusters:
  own: {{authority: moldau, plugin: {{name: delta}}}}
  files: {{authority: moldau, plugin: {{name: directory, path: {path}}}}}
"""
HTTP = "  http: {authority: moldau, plugin: {name: webhook, url: 'http://127.0.0.1:1/'}}\n"
STORED = {
    "kept": 3, "uncertain": -2, "nothing": -1, "nothing pushed": -1, "other": 4, "deleted": -1,
    "classic": -1,
}  # fmt: skip
LEFT = [
    ("classic", None, "GROUP_GONE"),
    ("deleted", None, "GROUP_GONE"),
    ("no group's \\ name", None, "GROUP_GONE"),
    ("nothing", -1, "NOTHING_STORED"),
    ("nothing pushed", -1, "NOTHING_STORED"),
    ("other", 4, "EPOCH_DIFFERS"),
]


@pytest.fixture
def config(tmp_path: Path, warehouse: Path, write: Write) -> Path:
    create(warehouse)
    rows = [
        {
            "cluster_id": cluster,
            "group_id": name,
            "group_type": "classic" if name == "classic" else "streams",
            "group_state": "DEAD" if name == "deleted" else "EMPTY",
            "is_deleted": name == "deleted",
            "stored_description_topology_epoch": epoch,
        }
        for cluster in ("own", "files")
        for name, epoch in STORED.items()
    ]
    write("state.groups", *rows)
    delta, directory = DeltaPlugin(), DirectoryPlugin(str(tmp_path / "files"))
    for cluster, plugin in (("own", delta), ("files", directory)):
        plugin.open(cluster, warehouse, tmp_path)
        for name in [*STORED, "no group's \\ name"]:
            plugin.set_topology(name, -1 if name == "nothing pushed" else 3, {})
    file = tmp_path / "moldau.yml"
    file.write_text(SETTINGS.format(path=tmp_path / "files"))
    return file


def ask(config: Path, *words: str) -> Result:
    where = ["--config", str(config), "--warehouse", str(config.parent / "warehouse")]
    command = ["topology", "left-overs", "--format", "json", *words, *where]
    return CliRunner().invoke(moldau, command, standalone_mode=False)


def test_what_no_group_vouches_for_is_listed_and_nothing_is_touched(config: Path) -> None:
    for _ in range(2):
        result = ask(config)
        assert result.return_value == 0, result.output
        found = json.loads(result.stdout)
        for cluster in ("own", "files"):
            told = [
                (row["group_id"], row["stored_epoch"], row["reason_code"])
                for row in found
                if row["cluster_id"] == cluster
            ]
            assert told == LEFT


@pytest.mark.parametrize("cluster", ["own", "files"])
def test_they_are_deleted_and_the_calls_are_recorded(config: Path, cluster: str) -> None:
    result = ask(config, "--execute", "--cluster", cluster)
    assert result.return_value == 0, result.output
    assert [row["outcome"] for row in json.loads(result.stdout)] == ["success"] * len(LEFT)
    assert json.loads(ask(config, "--cluster", cluster).stdout) == []
    calls = DeltaTable(config.parent / "warehouse" / "history" / "plugin_calls").to_pyarrow_table()
    assert sorted(calls["group_id"].to_pylist()) == [name for name, _, _ in LEFT]
    runs = DeltaTable(config.parent / "warehouse" / "state" / "runs").to_pyarrow_table()
    [run] = [row for row in runs.to_pylist() if row["kind"] == "leftovers"]
    assert dict(run["counts"]) == {"deletes_success": len(LEFT)}
    assert set(calls["run_id"].to_pylist()) == {run["run_id"]}


def test_what_is_not_moldaus_is_listed_and_never_deleted(config: Path) -> None:
    config.write_text(config.read_text().replace("files: {authority: moldau, ", "files: {"))
    assert len(json.loads(ask(config).stdout)) == 2 * len(LEFT)
    for words in ([], ["--cluster", "files"]):
        error = ask(config, "--execute", *words).exception
        assert isinstance(error, MoldauError)
        assert str(error).startswith("nothing is deleted: moldau is not in charge of files. Give ")
    assert len(json.loads(ask(config).stdout)) == 2 * len(LEFT)
    assert ask(config, "--execute", "--cluster", "own").return_value == 0


def test_a_stored_epoch_outlives_older_ones_of_its_group(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plugin deletes by group, once for all that it holds of it."""
    held = [("kept", 2), ("kept", 3), ("uncertain", 7), ("nobody", 1), ("nobody", 2), ("other", 3)]
    deleted = []
    monkeypatch.setattr(DeltaPlugin, "list_topologies", lambda self: held)
    monkeypatch.setattr(DeltaPlugin, "delete_topologies", lambda self, ids: deleted.extend(ids))
    result = ask(config, "--execute", "--cluster", "own")
    assert result.return_value == 2
    assert sorted(deleted) == ["nobody", "other"]
    told = [
        (row["group_id"], row["topology_epoch"], row["outcome"])
        for row in json.loads(result.stdout)
    ]
    assert told == [
        ("kept", 2, None),
        ("nobody", 1, "success"),
        ("nobody", 2, "success"),
        ("other", 3, "success"),
    ]
    assert "all that it has of a group" in json.loads(result.stdout)[0]["message"]
    calls = DeltaTable(config.parent / "warehouse" / "history" / "plugin_calls").to_pyarrow_table()
    assert sorted(calls["group_id"].to_pylist()) == ["nobody", "other"]


def test_a_plugin_that_cannot_tell_is_named(config: Path) -> None:
    config.write_text(config.read_text() + HTTP)
    result = ask(config)
    assert result.return_value == 2
    assert "http: the plugin has no list_topologies" in result.stderr
    assert len(json.loads(result.stdout)) == 2 * len(LEFT)
    assert "no list_topologies" in str(ask(config, "--cluster", "http").exception)
    assert "no plugin of moldau's" in str(ask(config, "--cluster", "nowhere").exception)


def test_a_plugin_that_tells_its_secrets_is_told_without_them(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a delete: on stdout and in history.plugin_calls; of a list: in what refuses the verb."""
    options = "{name: delta, storage_options: {key: hunter2-hunter2}}"
    config.write_text(config.read_text().replace("{name: delta}", options))

    def refuse(self: DeltaPlugin, *_: object) -> None:
        raise RuntimeError(f"HTTP 401: {self._storage_options} dTpodW50ZXIyLWh1bnRlcjI=")

    monkeypatch.setattr(DeltaPlugin, "delete_topologies", refuse)
    result = ask(config, "--execute", "--cluster", "own")
    assert result.return_value == 2
    told = {row["message"] for row in json.loads(result.stdout)}
    calls = DeltaTable(config.parent / "warehouse" / "history" / "plugin_calls").to_pyarrow_table()
    assert told == set(calls["message"].to_pylist()) == {"HTTP 401: {'key': '***'} dT***"}
    monkeypatch.setattr(DeltaPlugin, "list_topologies", refuse)
    assert "HTTP 401: {'key': '***'} dT***" in ask(config).stderr
    assert "HTTP 401: {'key': '***'} dT***" in str(ask(config, "--cluster", "own").exception)
