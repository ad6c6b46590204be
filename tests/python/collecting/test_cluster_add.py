"""`moldau cluster add` at a real Kafka: what it writes, and which rights it says are missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from broker_support import USERS, Broker, password_login, properties_text
from confluent_kafka.admin import AclOperation, ResourceType
from groups_support import Groups, right

from moldau.cli import run

FINE, REFUSED, FINDINGS = 0, 1, 2
OFFSETS = "__consumer_offsets"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOLDAU_WAREHOUSE", str(tmp_path / "warehouse"))
    return tmp_path


@pytest.fixture(scope="module")
def hers(groups: Groups) -> None:
    """A topic and a group of which carol may see something."""
    groups.create("of-carol")
    groups.commit("g-hers", p0=0)


def typed(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, list[str]]:
    code = run(list(words))
    told = capfd.readouterr()
    return code, told.out, told.err.splitlines()


def login(folder: Path, user: str) -> Path:
    file = folder / f"{user}.properties"
    file.write_text(properties_text(password_login("SCRAM-SHA-256", user, USERS[user])))
    return file


def test_whoever_may_see_everything_misses_nothing(
    folder: Path, hers: None, broker: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "moldau.yml").write_text("# ours\nengine: duckdb  # small\n")
    words = ["cluster", "add", "east", "--bootstrap-servers", broker.plaintext]
    code, out, err = typed(capfd, *words)
    assert (code, err) == (FINE, [])
    assert out.startswith("moldau.yml says now how cluster 'east' is reached\nKafka 4.")
    assert (folder / "moldau.yml").read_text() == (
        "# ours\nengine: duckdb  # small\n"
        f"clusters:\n  east:\n    bootstrap.servers: {broker.plaintext}\n"
    )
    code, out, err = typed(capfd, "collect", "--cluster", "east", "--format", "json")
    assert (code, err) == (FINE, [])
    assert {row["kind"] for row in json.loads(out)} == {
        "partition_states", "topic_configs", "group_listings",
    }  # fmt: skip
    again = typed(capfd, "collect", "--cluster", "east", "--format", "json")
    assert {row["kind"] for row in json.loads(again[1])} == {"partition_states", "group_listings"}


def test_one_that_is_there_is_not_overwritten_in_silence(
    folder: Path, hers: None, broker: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    before = "clusters:\n  east:\n    bootstrap.servers: old:9092  # since May\n"
    (folder / "moldau.yml").write_text(before)
    words = ["cluster", "add", "east", "--bootstrap-servers", broker.plaintext]
    code, _, [line] = typed(capfd, *words)
    assert code == REFUSED
    assert "says already how cluster 'east' is reached (old:9092): --replace" in line
    assert (folder / "moldau.yml").read_text() == before
    assert typed(capfd, *words, "--replace")[0] == FINE
    assert (folder / "moldau.yml").read_text() == before.replace("old:9092", broker.plaintext)
    assert typed(capfd, "cluster", "check", "east")[0] == FINE


@pytest.mark.parametrize("servers", ["127.0.0.1:1", "no-port", "a:1,,b:2"])
def test_what_cannot_be_reached_is_not_written(
    folder: Path, servers: str, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["cluster", "add", "east", "--bootstrap-servers", servers, "--timeout", "1"]
    code, _, [_line] = typed(capfd, *words)
    assert code == REFUSED
    assert list(folder.iterdir()) == []


def test_what_is_missing_is_said_in_words_with_what_it_costs(
    folder: Path, hers: None, groups: Groups, broker: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    def rights_of(user: str) -> tuple[dict[tuple[str, str], bool], list[str]]:
        words = ["--bootstrap-servers", broker.sasl, "--properties", str(login(folder, user))]
        code, out, err = typed(capfd, "cluster", "add", user, *words, "--format", "json")
        assert code == FINDINGS
        assert USERS[user] not in out + "".join(err)
        rows: list[dict[str, Any]] = json.loads(out)
        return {(row["resource"], row["operation"]): row["is_granted"] for row in rows}, err

    nobody, told = rights_of("bob")
    assert nobody == {
        (f"topic {OFFSETS}", "DESCRIBE"): False,
        (f"topic {OFFSETS}", "READ"): False,
        ("topic __remote_log_metadata", "DESCRIBE"): False,
        ("topic __remote_log_metadata", "READ"): False,
        ("cluster", "DESCRIBE"): False,
    }
    assert (
        f"moldau: READ is missing on topic {OFFSETS}; unknown without it: groups, their offsets "
        "and epochs: everything about groups"
    ) in told

    rights = [
        right("carol", ResourceType.TOPIC, OFFSETS, AclOperation.DESCRIBE),
        right("carol", ResourceType.TOPIC, "of-carol", AclOperation.DESCRIBE_CONFIGS),
        right("carol", ResourceType.TOPIC, "of-carol", AclOperation.DESCRIBE),
        right("carol", ResourceType.TOPIC, "__remote_log_metadata", AclOperation.READ),
        right("carol", ResourceType.BROKER, "kafka-cluster", AclOperation.DESCRIBE),
    ]
    groups.allow(*rights)
    try:
        some, _ = rights_of("carol")
    finally:
        groups.forbid(*rights)
    of_groups = {key for key in some if key[0].startswith("group")}
    assert {key: granted for key, granted in some.items() if key not in of_groups} == {
        (f"topic {OFFSETS}", "READ"): False,
        (f"topic {OFFSETS}", "DESCRIBE_CONFIGS"): False,
        ("cluster", "DESCRIBE"): True,
    }
    assert of_groups and not any(some[key] for key in of_groups)
    written = (folder / "moldau.yml").read_text()
    assert "properties: carol.properties" in written
    assert "secret" not in written
