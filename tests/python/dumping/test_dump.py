"""`moldau dump` at a real Kafka: what it brings, what it leaves alone, how it says no.

The tests build on one another's cluster, from one that has no group yet to one that dies.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker_support import USERS, Broker, password_login, properties_text, running_broker
from certificate_support import PASSWORD as STORE_PASSWORD
from certificate_support import Certificate, make_certificate
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)
from groups_support import PARTITIONS, TOPIC, Groups

from moldau.cli import run
from moldau.dumping.brokers import Cluster
from moldau.dumping.client_settings import client_settings
from moldau.dumping.consuming import Reader
from moldau.dumping.dump import dump
from moldau.dumping.extents import extents_of
from moldau.errors import MoldauError
from moldau.reading.tables.query import query
from moldau.runs.load import load
from moldau.sessions.session import Session
from moldau.warehouse.log_spans import Span

OFFSETS = "__consumer_offsets"
CLUSTER = "dumped"
FINE, REFUSED = 0, 1


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, certificate: Certificate) -> Iterator[Broker]:
    with running_broker(tmp_path_factory.mktemp("broker"), certificate) as started:
        yield started


@pytest.fixture(scope="module")
def groups(broker: Broker) -> Groups:
    made = Groups(broker.plaintext)
    made.create("heartbeats")
    made.produce("heartbeats", {"value": b"v"})
    return made


@pytest.fixture(scope="module")
def member(groups: Groups) -> Iterator[None]:
    """Groups of every kind of commit; one of them has a member all the time."""
    groups.create(TOPIC, PARTITIONS)
    groups.commit("g-simple", p0=5, p1=7)
    groups.commit("g-simple", p0=6)
    groups.commit("g-deleted", p0=1)
    groups.delete("g-deleted")
    groups.begin("g-in-transactions", p0=3, p1=3).commit_transaction(30)
    groups.begin("g-in-transactions", p1=9, p2=9).abort_transaction(30)
    with groups.member("g-with-member"):
        yield


def dumped_by(address: str, target: Path, topic: str = OFFSETS, **more: Any) -> int:
    words = ["--bootstrap-servers", address, "--topic", topic, "--to", str(target)]
    options = [word for name, value in more.items() for word in (f"--{name}", str(value))]
    return run(["dump", *words, *options])


def lines_of(file: Path) -> list[dict[str, Any]]:
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    return [json.loads(line) for line in content.splitlines()]


def test_a_cluster_without_groups_is_not_given_their_topic(
    groups: Groups, broker: Broker, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert dumped_by(broker.plaintext, tmp_path / "h.jsonl", "heartbeats") == REFUSED
    assert dumped_by(broker.plaintext, tmp_path / "o.jsonl") == REFUSED
    assert dumped_by(broker.plaintext, tmp_path / "n.jsonl", "no-such-topic") == REFUSED
    has_none, no_offsets, no_topic = capfd.readouterr().err.splitlines()
    assert f"{broker.plaintext} has no __consumer_offsets yet" in has_none
    assert "topic __consumer_offsets: Unknown topic or partition" in no_offsets
    assert "topic no-such-topic: Unknown topic or partition" in no_topic
    assert groups.topics() == {"heartbeats"}
    assert not list(tmp_path.iterdir())


def test_what_a_dump_brings_is_what_the_cluster_tells(
    session: Session, member: None, groups: Groups, broker: Broker, tmp_path: Path
) -> None:
    target = tmp_path / "offsets.jsonl.gz"
    told = subprocess.run(
        [
            sys.executable, "-c", "from moldau.cli import main; main()", "dump",
            "--bootstrap-servers", broker.plaintext, "--topic", OFFSETS, "--to", str(target),
        ],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (told.returncode, told.stderr) == (FINE, "")
    assert told.stdout.startswith(f"{len(lines_of(target))} records written to {target}\n")
    assert list(tmp_path.iterdir()) == [target]

    loaded = load(session, [target], CLUSTER, "records")
    assert (loaded.rows_new, loaded.refused) == (len(lines_of(target)), [])
    answers = groups.answers()
    assert set(answers.states) == {"g-simple", "g-in-transactions", "g-with-member"}
    states = query(
        session.warehouse,
        f"select group_id, group_state from marts.groups where cluster_id = '{CLUSTER}' "
        "and not is_deleted",
    )
    assert dict(states.rows) == answers.states
    offsets = query(
        session.warehouse,
        "select group_id, partition_index, committed_offset from marts.group_offsets "
        f"where cluster_id = '{CLUSTER}' and not is_deleted",
    )
    assert {(group, index): offset for group, index, offset in offsets.rows} == answers.offsets
    assert answers.offsets["g-in-transactions", 1] == 3, "the second transaction was aborted"


def test_a_dump_leaves_the_cluster_as_it_was(
    member: None, groups: Groups, broker: Broker, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    before = groups.answers(), groups.topics()
    for name in ("one.jsonl", "two.jsonl"):
        assert dumped_by(broker.plaintext, tmp_path / name, format="json") == FINE
    assert (groups.answers(), groups.topics()) == before
    first, second = (json.loads(text + "]") for text in capsys.readouterr().out.split("]")[:2])
    assert first == second, "no record was added to any partition"
    assert len(first) == 5
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_every_way_to_log_in_brings_the_same(
    member: None, broker: Broker, certificate: Certificate, tmp_path: Path
) -> None:
    assert dumped_by(broker.plaintext, tmp_path / "plaintext.jsonl") == FINE
    logins = {
        "plain": password_login("PLAIN", "alice", USERS["alice"]),
        "scram": password_login("SCRAM-SHA-256", "alice", USERS["alice"]),
        "pem": {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": certificate.pem.replace("\n", " "),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": certificate.pem.replace("\n", " "),
            "ssl.keystore.key": certificate.key_pem.replace("\n", " "),
        },
        "pkcs12": {
            "security.protocol": "SSL",
            "ssl.truststore.location": str(certificate.truststore),
            "ssl.truststore.password": STORE_PASSWORD,
            "ssl.keystore.location": str(certificate.keystore),
            "ssl.keystore.password": STORE_PASSWORD,
            "ssl.key.password": STORE_PASSWORD,
        },
    }
    for name, login in logins.items():
        file, target = tmp_path / f"{name}.properties", tmp_path / f"{name}.jsonl"
        address = broker.sasl if "sasl.mechanism" in login else broker.tls
        more = {"bootstrap.servers": address, "group.id": "g-simple", "enable.auto.commit": "true"}
        file.write_text(properties_text(login | more))
        words = ["--properties", str(file), "--topic", OFFSETS, "--to", str(target)]
        assert run(["dump", *words]) == FINE, name
        assert target.read_bytes() == (tmp_path / "plaintext.jsonl").read_bytes()


def test_who_may_read_the_topic_alone_dumps_it(
    member: None, groups: Groups, broker: Broker, tmp_path: Path
) -> None:
    acls = [
        AclBinding(
            ResourceType.TOPIC, "heartbeats", ResourcePatternType.LITERAL, "User:carol", "*",
            operation, AclPermissionType.ALLOW,
        )
        for operation in (AclOperation.READ, AclOperation.DESCRIBE)
    ]  # fmt: skip
    for future in groups.admin.create_acls(acls).values():
        future.result()
    file, target = tmp_path / "carol.properties", tmp_path / "h.jsonl"
    file.write_text(properties_text(password_login("PLAIN", "carol", USERS["carol"])))
    assert dumped_by(broker.sasl, target, "heartbeats", properties=file) == FINE
    assert len(lines_of(target)) == 1


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("wrong password", "Authentication failed: Invalid username or password"),
        ("not allowed", "topic __consumer_offsets: Topic authorization failed"),
        ("not trusted", "certificate verify failed"),
        (
            "nobody listens",
            "no answer for 1 s over PLAINTEXT; last: 127.0.0.1:9/bootstrap: Connect",
        ),
        ("other protocol", "no answer for 1 s over PLAINTEXT; last: 127.0.0.1"),
    ],
)
def test_a_refusal_is_one_line_without_secrets_and_leaves_the_older_file(
    case: str, said: str, member: None, broker: Broker, tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    address, login = {
        "wrong password": (broker.sasl, password_login("PLAIN", "alice", "wrong-secret-word")),
        "not allowed": (broker.sasl, password_login("SCRAM-SHA-256", "bob", USERS["bob"])),
        "not trusted": (broker.tls, {"security.protocol": "SSL"}),
        "nobody listens": ("127.0.0.1:9", {}),
        "other protocol": (broker.sasl, {}),
    }[case]
    file, target = tmp_path / "client.properties", tmp_path / "offsets.jsonl"
    file.write_text(properties_text(login))
    target.write_text("an older dump")
    timeout = 1 if "no answer" in said else 20
    assert dumped_by(address, target, properties=file, timeout=timeout) == REFUSED
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"moldau: {address}: ")
    assert said in err
    assert "secret" not in err
    assert target.read_text() == "an older dump"
    assert set(tmp_path.iterdir()) == {file, target}


def test_an_open_transaction_is_told_with_what_it_hides(
    member: None, groups: Groups, broker: Broker, tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    target = tmp_path / "offsets.jsonl"
    assert dumped_by(broker.plaintext, target, format="json") == FINE
    before = json.loads(capfd.readouterr().out)
    transaction = groups.begin("g-open", p0=1)
    try:
        groups.commit("g-open", p1=1)
        capfd.readouterr()
        assert dumped_by(broker.plaintext, target, format="json") == FINE
    finally:
        transaction.commit_transaction(30)
    out, err = capfd.readouterr()
    (hiding,) = (row for row in json.loads(out) if row["hidden_offsets"])
    was = next(row for row in before if row["partition"] == hiding["partition"])
    assert hiding == was | {"hidden_offsets": 2}
    assert err == (
        f"moldau: __consumer_offsets-{hiding['partition']}: an open transaction hides 2 offsets, "
        f"those from {was['end_offset']} on\n"
    )
    assert dumped_by(broker.plaintext, target, format="json") == FINE
    after = json.loads(capfd.readouterr().out)[hiding["partition"]]
    assert (after["records"], after["hidden_offsets"]) == (was["records"] + 2, 0)
    # two records and, behind them, the marker of the transaction
    assert after["end_offset"] == was["end_offset"] + 3


def test_records_that_were_deleted_are_passed_over_and_told(
    member: None, groups: Groups, broker: Broker
) -> None:
    groups.create("shortened", 2)
    records = [{"value": f"{number}".encode(), "partition": 0} for number in range(20)]
    groups.produce("shortened", *records)
    groups.delete_records("shortened", 0, 5)
    cluster = Cluster(client_settings(broker.plaintext, None), 20)
    found = extents_of(cluster, "shortened")
    [topic_id] = {each.topic_id for each in found}
    assert topic_id == told_by_kafka(broker, "shortened")
    assert found == [span(0, 5, 20, topic_id), span(1, 0, 0, topic_id)]
    told: list[str] = []
    # as if the records had been there when the extents were asked for
    reader = Reader(cluster, "shortened", [span(0, 2, 20)], told.append)
    offsets = [record.offset() for batch in reader.batches() for record in batch]
    assert offsets == list(range(5, 20))
    assert told == [
        "shortened-0: the records from offset 2 to 4 were deleted before they were read"
    ]
    gone = Reader(cluster, "shortened", [span(0, 1, 4)], told.append)
    assert list(gone.batches()) == []
    before = Reader(cluster, "shortened", [span(0, 5, 7)], told.append)
    assert [record.offset() for batch in before.batches() for record in batch] == [5, 6]


def span(partition: int, start: int, end: int, topic_id: str = "") -> Span:
    return Span("shortened", partition, topic_id, start, end, start, end)


def told_by_kafka(broker: Broker, topic: str) -> str:
    """The id of a topic as its broker writes it beside the log."""
    [folder] = (broker.folder / "data").glob(f"{topic}-0")
    lines = (folder / "partition.metadata").read_text().splitlines()
    return next(line.partition(": ")[2] for line in lines if line.startswith("topic_id"))


def test_a_record_keeps_everything_it_has(
    member: None, groups: Groups, broker: Broker, tmp_path: Path
) -> None:
    groups.create("whole", **{"message.timestamp.type": "CreateTime"})
    groups.create("stamped", **{"message.timestamp.type": "LogAppendTime"})
    headers = [("h", b"\x00\xff"), ("h", None), ("é", b"")]
    groups.produce(
        "whole",
        {"key": b"\x00k", "value": b"\xffv", "timestamp": 1_234, "headers": headers},
        {"key": b"tombstone", "value": None, "timestamp": 5},
        {"key": None, "value": b"", "timestamp": 6},
    )
    groups.produce("stamped", {"value": b"v", "timestamp": 5})
    assert dumped_by(broker.plaintext, tmp_path / "whole.jsonl", "whole") == FINE
    first, second, third = lines_of(tmp_path / "whole.jsonl")
    assert first == {
        "topic": "whole", "partition": 0, "offset": 0,
        "timestamp_ms": 1_234, "timestamp_type": "CreateTime",
        "key_base64": "AGs=", "value_base64": "/3Y=",
        "headers": [
            {"key": "h", "value_base64": "AP8="},
            {"key": "h", "value_base64": None},
            {"key": "é", "value_base64": ""},
        ],
    }  # fmt: skip
    assert (second["value_base64"], second["headers"]) == (None, [])
    assert (third["key_base64"], third["value_base64"]) == (None, "")
    assert dumped_by(broker.plaintext, tmp_path / "stamped.jsonl", "stamped") == FINE
    (stamped,) = lines_of(tmp_path / "stamped.jsonl")
    assert stamped["timestamp_type"] == "LogAppendTime"
    assert stamped["timestamp_ms"] > 5


def test_a_signal_or_a_lost_broker_in_the_middle_leaves_no_file(
    member: None, groups: Groups, broker: Broker, tmp_path: Path
) -> None:
    groups.create("long")
    groups.produce("long", *[{"value": b"v"}] * 250_000)
    settings = client_settings(broker.plaintext, None)
    target = tmp_path / "long.parquet"

    def terminate(_done: int, _total: int) -> None:
        assert len(list(tmp_path.iterdir())) == 1, "the unfinished file"
        os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt):
        dump(settings, "long", target, 20, print, terminate)
    assert not list(tmp_path.iterdir())

    with pytest.raises(MoldauError, match=r"no answer for 1 s over PLAINTEXT at long-0, offset"):
        dump(settings, "long", target, 1, print, lambda _done, _total: broker.process.kill())
    assert not list(tmp_path.iterdir())
