"""`moldau topology describe`: spec 1, sections 9.1 and 9.3, cases 172 to 176, 181 and 185."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from deltalake import DeltaTable
from rows_support import Write

from moldau.cli import moldau
from moldau.plugins.delta import DeltaPlugin

WIRE = {
    "subtopologies": [
        {
            "subtopologyId": "0",
            "nodes": [
                {
                    "name": "source",
                    "nodeType": 1,
                    "sourceTopics": ["input"],
                    "successors": ["sink", "gone"],
                },
                {"name": "sink", "nodeType": 3, "sinkTopic": "output"},
            ],
        }
    ]
}
SETTINGS = """
clusters:
  east: {authority: moldau, plugin: {name: delta}}
  west: {group.streams.topology.description.plugin.class: Plugin}
"""


@pytest.fixture
def config(tmp_path: Path, warehouse: Path, write: Write, write_empty: Callable[..., None]) -> Path:
    """Streams groups at epoch 4 in three clusters, and what the plugin of one of them has."""
    write_empty("marts.topology_descriptions")
    stored = {"stored": 4, "lost": 4, "odd": 4, "uncertain": -2, "older": 3}
    groups = [("east", *item) for item in stored.items()]
    groups += [("west", "elsewhere", 4), ("north", "bare", 4), ("north", "stored", 4)]
    common = {"group_type": "streams", "group_state": "STABLE", "topology_epoch": 4}
    common |= {"is_readable": True}
    write(
        "state.groups",
        *(
            common
            | {"cluster_id": cluster, "group_id": name, "stored_description_topology_epoch": epoch}
            for cluster, name, epoch in groups
        ),
    )
    others = {
        "connect": {"group_type": "classic", "group_state": "STABLE", "member_count": 2},
        "shared": {"group_type": "share", "group_state": "EMPTY"},
        "next": {"group_type": "consumer", "group_state": "STABLE", "member_count": 1},
        "spoilt": {"group_type": "consumer", "group_state": "UNKNOWN", "is_readable": False},
        "gone": {"group_type": "streams", "group_state": "DEAD", "is_deleted": True}
        | {"deleted_by": "sweep", "deleted_at_ms": 1_795_000_000_000},
        "elsewhere": {"group_type": "classic", "group_state": "EMPTY"},
    }
    write(
        "state.groups",
        *(
            {"cluster_id": "east", "group_id": name, "is_readable": True} | told
            for name, told in others.items()
        ),
        {"cluster_id": "north", "group_id": "connect", "is_readable": True}
        | {"group_type": "share", "group_state": "EMPTY"},
    )
    for cluster, plugin in (("east", "delta"), ("west", None)):
        write("state.settings", {"cluster_id": cluster, "has_plugin": True, "plugin_name": plugin})
    for table in ("plugin.topology_descriptions", "history.plugin_calls", "state.runs"):
        write(table)
    plugin = DeltaPlugin()
    plugin.open("east", warehouse, tmp_path)
    plugin.set_topologies([("stored", 4, WIRE), ("odd", 4, {"subtopologies": 1})])
    file = tmp_path / "moldau.yml"
    file.write_text(SETTINGS)
    return file


def gets(config: Path) -> list[tuple[Any, ...]]:
    """Group, epoch, outcome and message of each call that was recorded."""
    table = DeltaTable(config.parent / "warehouse" / "history" / "plugin_calls").to_pyarrow_table()
    return sorted(
        (row["group_id"], row["topology_epoch"], row["outcome"], row["message"])
        for row in table.to_pylist()
        if (row["operation"], row["cluster_id"]) == ("get", "east")
    )


def describe(config: Path, *words: str) -> Result:
    where = ["--config", str(config), "--warehouse", str(config.parent / "warehouse")]
    command = ["topology", "describe", *words, *where]
    return CliRunner().invoke(moldau, command, standalone_mode=False)


def test_what_is_available_is_printed_as_kafka_prints_it(config: Path) -> None:
    result = describe(config, "--group", "stored", "--cluster", "east")
    assert result.return_value == 0
    assert result.stdout == (
        "Topologies:\n   Sub-topology: 0\n    Source: source (topics: [input])\n"
        "      --> gone, sink\n    Sink: sink (topic: output)\n      <-- source\n\n\n"
    )
    assert result.stderr == (
        "warning: subtopology '0': 'source' is followed by 'gone', which is no node\n"
    )
    assert gets(config) == [("stored", 4, "success", None)]


@pytest.mark.parametrize("group", ["uncertain", "older", "bare", "lost"])
def test_what_is_not_stored_is_said_in_kafkas_words(config: Path, group: str) -> None:
    result = describe(config, "--group", group)
    assert result.return_value == 1
    assert result.stdout == ""
    message, *reason = result.stderr.splitlines()
    assert message == f"No topology description is stored for streams group '{group}'."
    assert reason == ["because: the plugin has none of this epoch"] * (group == "lost")
    # 172, 175, 176: only where an epoch is stored the plugin is asked, and that it has none counts
    assert gets(config) == ([("lost", 4, "success", None)] if group == "lost" else [])


def test_what_the_plugin_gives_may_be_no_description(config: Path) -> None:
    result = describe(config, "--group", "odd")
    assert result.return_value == 1
    assert result.stderr == (
        "The broker failed to fetch the topology description for streams group 'odd'. "
        "See the broker logs for details.\nbecause: subtopologies is not a list of objects\n"
    )
    told = ("transient_failure", "subtopologies is not a list of objects")
    assert gets(config) == [("odd", 4, *told)]


def test_a_plugin_that_fails_is_an_error(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Any, group_id: str, topology_epoch: int) -> None:
        raise RuntimeError(f"no {group_id} at {topology_epoch}")

    monkeypatch.setattr(DeltaPlugin, "get_topology", fail)
    result = describe(config, "--group", "odd", "--format", "json")
    assert result.return_value == 1
    assert json.loads(result.stdout)["status"] == "ERROR"
    assert "no odd at 4" in result.stderr
    assert [row[2] for row in gets(config)] == ["transient_failure"]


SECRET = "hunter2-hunter2"


def saying(config: Path, monkeypatch: pytest.MonkeyPatch, answer: Callable[[], Any]) -> None:
    """The plugin has a secret among its options, and this answer."""
    options = f"{{name: delta, storage_options: {{key: {SECRET}}}}}"
    config.write_text(SETTINGS.replace("{name: delta}", options))
    monkeypatch.setattr(DeltaPlugin, "get_topology", lambda *_: answer())


@pytest.mark.parametrize("form", ["text", "json", "mermaid", "dot"])
@pytest.mark.parametrize(
    "disguise", [str, lambda it: b64encode(f"u:{it}".encode()).decode(), lambda it: f"%{it}"]
)
def test_nothing_tells_a_secret_of_the_plugin(
    config: Path, monkeypatch: pytest.MonkeyPatch, form: str, disguise: Callable[[str], str]
) -> None:
    """Neither why there is no description, nor one that the plugin made of what it was given."""
    said = disguise(SECRET)
    node = {"name": said, "nodeType": 1, "sourceTopics": [f"of {said}"], "successors": ["x"]}
    given = {"subtopologies": [{"subtopologyId": said, "nodes": [node]}]}

    def refuse() -> None:
        raise RuntimeError(f"HTTP 401: {said}")

    for answer, code in ((refuse, 1), (lambda: {said: 1, "subtopologies": said}, 1),
                         (lambda: [said], 1), (lambda: given, 0)):  # fmt: skip
        saying(config, monkeypatch, answer)
        result = describe(config, "--group", "odd", "--format", form)
        assert result.return_value == code, result.output
        assert said not in result.output and SECRET not in result.output
    assert "***" in result.output
    messages = [row[3] for row in gets(config)]
    assert sum("***" in (message or "") for message in messages) == 1
    assert not any(said in (message or "") for message in messages)


def test_who_may_not_write_is_told_and_reads_all_the_same(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError("read-only file system")

    monkeypatch.setattr("moldau.plugins.record.append", refuse)
    result = describe(config, "--group", "stored", "--cluster", "east")
    assert result.return_value == 0
    assert "not in history.plugin_calls: read-only file system" in result.stderr
    assert result.stdout.startswith("Topologies:\n")


def test_a_plugin_of_the_broker_cannot_be_asked(config: Path) -> None:
    result = describe(config, "--group", "elsewhere")
    assert result.return_value == 1
    assert result.stderr.startswith(
        "No topology description is available for streams group 'elsewhere' (status: UNKNOWN)."
    )


def test_other_programs_get_it_in_their_form(config: Path) -> None:
    def told(form: str) -> str:
        words = ("--group", "stored", "--cluster", "east", "--format", form)
        return describe(config, *words).stdout

    answer = json.loads(told("json"))
    assert (answer["status"], answer["topology_epoch"]) == ("AVAILABLE", 4)
    [part] = answer["topology_description"]["subtopologies"]
    assert [node["nodeType"] for node in part["nodes"]] == [1, 3]
    assert told("mermaid").startswith("flowchart LR\n")
    assert told("dot").startswith("digraph topology {\n")


def test_which_group_is_meant_must_be_clear(config: Path) -> None:
    from moldau.errors import MoldauError

    assert "several clusters" in str(describe(config, "--group", "stored").exception)
    unknown = describe(config, "--group", "nobody").exception
    assert isinstance(unknown, MoldauError)
    assert str(unknown) == "no live streams group is called 'nobody'"


_HINT = "; a Streams application without `group.protocol=streams` is one, and pushes no topology"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "connect",
            " is called 'connect': in cluster 'east' it is a classic group, STABLE with 2 members, "
            f"in cluster 'north' it is a share group, EMPTY with 0 members{_HINT}",
        ),
        (
            "shared",
            " is called 'shared': in cluster 'east' it is a share group, EMPTY with 0 members",
        ),
        (
            "next",
            " is called 'next': in cluster 'east' it is a consumer group, STABLE with 1 member",
        ),
        (
            "spoilt",
            " is called 'spoilt': in cluster 'east' it is a consumer group whose records "
            "cannot be read",
        ),
        (
            "gone",
            " is called 'gone': in cluster 'east' it was a streams group that was deleted at "
            "2026-11-18T11:06:40Z by sweep",
        ),
        # in the cluster that was asked about it is another group than elsewhere, or is not at all
        (
            "elsewhere --cluster east",
            " in cluster 'east' is called 'elsewhere': in cluster 'east' it is a classic group, "
            "EMPTY with 0 members, in cluster 'west' it is a streams group, STABLE with 0 members"
            f"{_HINT}",
        ),
        (
            "lost --cluster west",
            " in cluster 'west' is called 'lost': in cluster 'east' it is a streams group, "
            "STABLE with 0 members",
        ),
        ("nobody --cluster west", " in cluster 'west' is called 'nobody'"),
    ],
)
def test_of_another_group_it_is_said_what_it_is(config: Path, words: str, told: str) -> None:
    error = describe(config, "--group", *words.split()).exception
    assert str(error) == f"no live streams group{told}"
