"""How a cluster is reached stands in moldau.yml, and is no rule by which anything is decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from moldau.dumping.reached import reach
from moldau.errors import MoldauError
from moldau.settings import Settings, load_settings

LOGIN = "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=" + (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="moldau" password="hunter22";\n'
)


def read(folder: Path, east: str) -> Settings:
    file = folder / "moldau.yml"
    file.write_text(f"clusters:\n  east: {{{east}}}\n", encoding="utf-8")
    return load_settings(file, None)


def test_options_win_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "east.properties").write_text(LOGIN + "bootstrap.servers=of-yml-file:1\n")
    mine = tmp_path / "mine.properties"
    mine.write_text("bootstrap.servers=of-my-file:1\n")
    settings = read(tmp_path, "bootstrap.servers: 'b1:9092, b2:9092', properties: east.properties")

    told = reach(settings, "east")
    assert told.servers == "b1:9092,b2:9092"
    assert told.config["sasl.username"] == "moldau"
    assert reach(settings, "east", "other:1").servers == "other:1"
    assert reach(settings, "east", "other:1").config["sasl.username"] == "moldau"
    assert reach(settings, "east", None, mine).servers == "of-my-file:1"
    assert reach(settings, "east", None, mine).config["security.protocol"] == "PLAINTEXT"
    only_file = read(tmp_path, "properties: east.properties")
    assert reach(only_file, "east").servers == "of-yml-file:1"
    assert reach(load_settings(None, tmp_path), "new", "b:1").servers == "b:1"


def test_nobody_says_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "east.properties").write_text(LOGIN)
    for east in ("authority: broker", "properties: east.properties"):
        with pytest.raises(MoldauError, match="nobody says where cluster 'east' is: --boots"):
            reach(read(tmp_path, east), "east")
    with pytest.raises(MoldauError, match=r"cannot read the properties .*none\.properties"):
        reach(read(tmp_path, "bootstrap.servers: 'b:1', properties: none.properties"), "east")


def test_how_it_is_reached_is_no_rule(tmp_path: Path) -> None:
    (tmp_path / "east.properties").write_text(LOGIN)
    plain = read(tmp_path, "authority: broker").cluster("east")
    reached = read(
        tmp_path,
        "authority: broker, bootstrap.servers: 'broker-7:9092', properties: east.properties",
    ).cluster("east")
    assert reached.bootstrap_servers == "broker-7:9092"
    assert reached.digest() == plain.digest()
    assert "broker-7" not in str(reached.kept())
    assert "east.properties" not in str(reached.kept())


@pytest.mark.parametrize(
    "wrong",
    [
        "''",
        "broker",
        "'broker:'",
        "'broker:70000'",
        "'b:1,,c:2'",
        "7",
        "[]",
        "'b:1 c:2'",
        "'a/b:1'",
    ],
)
def test_servers_are_hosts_with_ports(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(
        MoldauError, match=r"bootstrap\.servers: .* is not allowed; allowed is HOST:"
    ):
        read(tmp_path, f"bootstrap.servers: {wrong}")


def test_servers_may_be_a_list(tmp_path: Path) -> None:
    told = read(tmp_path, "bootstrap.servers: ['[::1]:9092', 'kafka_1.example:9093']")
    assert told.cluster("east").bootstrap_servers == "[::1]:9092,kafka_1.example:9093"


def test_a_secret_in_the_wrong_place_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(MoldauError) as told:
        read(tmp_path, "sasl.jaas.config: 'password=\"hunter22\"'")
    assert "unknown key clusters.east.sasl.jaas.config" in str(told.value)
    assert "hunter22" not in str(told.value)
