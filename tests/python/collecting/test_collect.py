"""What `moldau collect` takes in is what a real Kafka, and its own tools, say."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker_support import Broker, password_login, properties_text, tool
from certificate_support import PASSWORD, Certificate
from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AclOperation, ConfigResource, OffsetSpec, ResourceType
from groups_support import PARTITIONS, TOPIC, Groups, right
from spark_support import commits
from token_support import CLIENT, SCOPE, SECRET, token_server

from moldau.cli import run
from moldau.collecting.asker import asking
from moldau.collecting.collect import Collected, collect
from moldau.collecting.known import Known, known_of
from moldau.collecting.listings import group_listings
from moldau.collecting.offsets import partition_states
from moldau.collecting.tokens import TokenProvider
from moldau.collecting.topics import topics_of
from moldau.collecting.transactions import offsets_partition
from moldau.dumping.client_settings import client_settings
from moldau.dumping.dump import dump
from moldau.errors import MoldauError
from moldau.reading.tables.query import query
from moldau.runs.load import load, load_rows
from moldau.sessions.session import Session

TIMEOUT_S = 15
OFFSETS = "__consumer_offsets"
NOTHING = Known()
TYPES = {
    "g-simple": "classic", "g-at-the-end": "classic", "g-in-transactions": "classic",
    "g-classic": "classic", "g-consumer": "consumer", "g-share": "share",
}  # fmt: skip


def collected(
    servers: str, properties: Path | None = None, known: Known = NOTHING, timeout: float = TIMEOUT_S
) -> Collected:
    return collect(client_settings(servers, properties), timeout, known)


def taken_in(session: Session, found: Collected, cluster: str) -> None:
    for kind, rows in found.rows.items():
        assert load_rows(session, rows, "broker", cluster, kind).refused == []


def of_topic(found: Collected, topic: str, kind: str = "partition_states") -> list[dict[str, Any]]:
    return [row for row in found.rows[kind] if row["topic"] == topic]


@pytest.fixture(scope="module")
def members(groups: Groups, broker: Broker) -> Iterator[None]:
    """Groups of three types: with members, and with commits that nobody in particular made."""
    groups.produce(TOPIC, *({"value": b"v", "partition": n % PARTITIONS} for n in range(40)))
    groups.delete_records(TOPIC, 1, 3)
    groups.commit("g-simple", p0=5, p1=1)
    groups.commit("g-at-the-end", p0=14, p1=13, p2=13)
    groups.begin("g-in-transactions", p0=3, p1=3).commit_transaction(30)
    tool(
        "consumer.ConsoleShareConsumer", "--bootstrap-server", broker.plaintext,
        "--topic", TOPIC, "--group", "g-share", "--timeout-ms", "3000",
    )  # fmt: skip
    with groups.member("g-classic"), groups.member("g-consumer", group_protocol="consumer"):
        yield


def told_by_kafka(broker: Broker) -> dict[tuple[str, str, int], tuple[int | None, int, int | None]]:
    """Committed offset, end and lag of kafka-consumer-groups.sh --describe."""
    text = tool(
        "consumer.group.ConsumerGroupCommand", "--bootstrap-server", broker.plaintext,
        "--describe", "--all-groups",
    )  # fmt: skip
    found = {}
    for line in filter(None, map(str.split, text.splitlines())):
        if line[0] in ("GROUP", "Consumer"):
            continue
        group, topic, index, committed, end, lag = line[:6]
        found[group, topic, int(index)] = (_number(committed), int(end), _number(lag))
    return found


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


def test_lag_is_what_kafkas_own_tool_says(
    session: Session, members: None, broker: Broker, tmp_path: Path
) -> None:
    target = tmp_path / "offsets.jsonl"
    dump(client_settings(broker.plaintext, None), OFFSETS, target, 30, print, lambda *_: None)
    load(session, [target], "lag", "records")
    found = collected(broker.plaintext)
    assert found.findings == []
    taken_in(session, found, "lag")

    kafkas = told_by_kafka(broker)
    rows = query(
        session.warehouse,
        "select group_id, topic_name, partition_index, committed_offset, high_watermark, lag "
        "from marts.group_lag where cluster_id = 'lag'",
    ).rows
    assert {tuple(row[:3]): tuple(row[3:]) for row in rows} == kafkas
    assert {group for group, _, _ in kafkas} >= TYPES.keys() - {"g-share"}
    assert kafkas["g-classic", TOPIC, 0] == (None, 14, None), "assigned, and without a commit"
    assert kafkas["g-simple", TOPIC, 1] == (1, 13, 12)


def test_groups_of_all_types_are_listed(members: None, groups: Groups, broker: Broker) -> None:
    listed = {row["group_id"]: row for row in collected(broker.plaintext).rows["group_listings"]}
    assert {group: listed[group]["group_type"] for group in TYPES} == TYPES
    kafkas = groups.listed()  # without share groups, which librdkafka does not know
    assert {g: row["group_state"] for g, row in listed.items() if g in kafkas} == kafkas
    assert kafkas["g-classic"] == kafkas["g-consumer"] == "STABLE"
    assert {group for group in TYPES if listed[group]["is_simple"]} == {
        "g-simple", "g-at-the-end", "g-in-transactions",
    }  # fmt: skip
    assert {row["coordinator_id"] for row in listed.values()} == {1}


def test_partitions_and_configs_are_those_of_the_admin_client(
    members: None, groups: Groups, broker: Broker
) -> None:
    groups.create("with-configs", 1, **{"retention.ms": "12345"})
    found = collected(broker.plaintext)
    names = groups.topics()
    assert {row["topic"] for row in found.rows["partition_states"]} == names
    rows = of_topic(found, TOPIC)
    assert {row["topic_id"] for row in rows} == {groups.topic_id(TOPIC)}
    assert [row["partition"] for row in rows] == list(range(PARTITIONS))
    for column, spec, isolation in (
        ("log_start_offset", OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED),
        ("high_watermark", OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED),
        ("last_stable_offset", OffsetSpec.latest(), IsolationLevel.READ_COMMITTED),
    ):
        asked = {TopicPartition(TOPIC, row["partition"]): spec for row in rows}
        answers = groups.admin.list_offsets(asked, isolation_level=isolation)
        kafkas = {at.partition: future.result().offset for at, future in answers.items()}
        assert {row["partition"]: row[column] for row in rows} == kafkas, column
    assert [row["log_end_offset"] for row in rows] == [14, 13, 13]
    assert [row["local_log_start_offset"] for row in rows] == [0, 3, 0]
    assert {row["latest_tiered_offset"] for row in rows} == {-1}
    assert {(row["is_leader"], row["leader_epoch"]) for row in rows} == {(True, 0)}

    [configs] = of_topic(found, "with-configs", "topic_configs")
    resource = ConfigResource(ConfigResource.Type.TOPIC, "with-configs")
    [answer] = groups.admin.describe_configs([resource]).values()
    assert configs["configs"] == {name: each.value for name, each in answer.result().items()}
    assert configs["configs"]["retention.ms"] == "12345"


def test_configs_that_hold_already_are_not_taken_in_again(
    session: Session, groups: Groups, broker: Broker
) -> None:
    groups.create("unchanged")
    taken_in(session, collected(broker.plaintext), "again")
    groups.create("new")
    again = collected(broker.plaintext, known=known_of(session.warehouse, "again"))
    assert [row["topic"] for row in again.rows["topic_configs"]] == ["new"]


def test_an_open_transaction_is_found_by_the_offsets_that_wait_for_it(
    session: Session, members: None, groups: Groups, broker: Broker
) -> None:
    producers = [groups.begin("g-waits", p0=7, p2=8)]
    taken_in(session, collected(broker.plaintext), "open")
    sql = (
        "select group_id, topic_name, partition_index, producer_id from state.open_transactions "
        "where cluster_id = 'open' order by group_id, partition_index"
    )
    (*first, producer_id), (*second, same_id) = session.sql(sql)
    assert [first, second] == [["g-waits", TOPIC, 0], ["g-waits", TOPIC, 2]]
    assert producer_id == same_id >= 0

    # in the same partition of __consumer_offsets, so that nothing tells whose commit is whose
    assert offsets_partition("g-waits", 5) == offsets_partition("g-waits-too", 5)
    producers.append(groups.begin("g-waits-too", p1=1))
    found = collected(broker.plaintext)
    assert {(row["group_id"], row["producer_id"]) for row in found.rows["open_transactions"]} == {
        ("g-waits", -1), ("g-waits-too", -1),
    }  # fmt: skip
    taken_in(session, found, "open")
    assert len(session.sql(sql)) == 3

    producers[0].abort_transaction(30)
    producers[1].commit_transaction(30)
    taken_in(session, collected(broker.plaintext), "open")
    assert session.sql(sql) == []


def test_a_topic_that_may_not_be_looked_at_is_named_and_the_rest_collected(
    session: Session, members: None, groups: Groups, broker: Broker, tmp_path: Path
) -> None:
    file = tmp_path / "carol.properties"
    file.write_text(properties_text(password_login("PLAIN", "carol", "carol-secret-word")))
    groups.create("hers")
    rights = (
        right("carol", ResourceType.TOPIC, "hers", AclOperation.DESCRIBE),
        right("carol", ResourceType.GROUP, "g-simple", AclOperation.DESCRIBE),
    )
    groups.allow(*rights)
    try:
        known = Known({TOPIC: frozenset({0, 1}), "no-such-topic": frozenset({0})})
        found = collected(broker.sasl, file, known)
    finally:
        groups.forbid(*rights)
    assert of_topic(found, "hers")[0]["high_watermark"] == 0
    assert [row["broker_id"] for row in of_topic(found, TOPIC)] == [-1, -1]
    assert [row["group_id"] for row in found.rows["group_listings"]] == ["g-simple"]
    assert found.rows["open_transactions"] == []
    denied = "TOPIC_AUTHORIZATION_FAILED"
    assert sorted(found.findings) == [
        f"hers: {denied} (DESCRIBE_CONFIGS); what holds for it is unknown",
        f"no-such-topic: {denied} (DESCRIBE); its ends are unknown",
        f"{TOPIC}: {denied} (DESCRIBE); its ends are unknown",
    ]
    assert "carol-secret-word" not in str(found.findings)
    taken_in(session, found, "hidden")


def test_another_cluster_by_the_same_name_is_refused_and_nothing_is_written(
    session: Session, members: None, broker: Broker, capsys: pytest.CaptureFixture[str]
) -> None:
    """Known by a snapshot alone: nothing was read of it."""
    taken_in(session, collected(broker.plaintext), "same")
    same = known_of(session.warehouse, "same")
    assert collected(broker.plaintext, known=same).findings == []
    [offsets_id] = {row["topic_id"] for row in of_topic(collected(broker.plaintext), OFFSETS)}
    assert same.offsets_id == offsets_id

    rows = collected(broker.plaintext).rows["partition_states"]
    other = [row | {"topic_id": "2gLQd7cXQ6WQnWCvuV1hXw"} for row in rows]
    taken_in(session, Collected({"partition_states": other}), "other")
    before = commits(session.warehouse)
    words = ["collect", "--cluster", "other", "--bootstrap-servers", broker.plaintext]
    assert run([*words, "--warehouse", str(session.warehouse)]) == 1
    assert capsys.readouterr().err == (
        f"moldau: {OFFSETS} has the id {offsets_id} now, and had 2gLQd7cXQ6WQnWCvuV1hXw: it was "
        "created anew or cut, or this is another cluster. What is known of other stays as it is; "
        "give the new one another name than other\n"
    )
    assert commits(session.warehouse) == before


def test_it_logs_in_as_dump_does(
    members: None, broker: Broker, certificate: Certificate, tmp_path: Path
) -> None:
    tls = {
        "security.protocol": "SSL",
        "ssl.truststore.location": str(certificate.truststore),
        "ssl.truststore.password": PASSWORD,
        "ssl.keystore.location": str(certificate.keystore),
        "ssl.keystore.password": PASSWORD,
    }
    password = 'alice-secret;with "quotes" and \\ in it'
    logins = {
        broker.tls: [tls],
        broker.sasl: [
            password_login("PLAIN", "alice", password),
            password_login("SCRAM-SHA-256", "alice", password),
        ],
    }
    for address, listed in logins.items():
        for properties in listed:
            file = tmp_path / "client.properties"
            file.write_text(properties_text(properties))
            assert len(of_topic(collected(address, file), TOPIC)) == PARTITIONS
    assert not list(Path("/tmp").glob("moldau-*.pem")), "no key is left in a file"


def test_it_logs_in_by_tokens(members: None, broker: Broker, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    with token_server("by-token") as url:
        for secret in (SECRET, "another-secret-word"):
            login = {
                "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER",
                "sasl.oauthbearer.token.endpoint.url": url, "sasl.oauthbearer.scope": SCOPE,
                "sasl.oauthbearer.client.credentials.client.id": CLIENT,
                "sasl.oauthbearer.client.credentials.client.secret": secret,
            }  # fmt: skip
            file.write_text(properties_text(login))
            if secret == SECRET:
                assert len(of_topic(collected(broker.oauth, file), TOPIC)) == PARTITIONS
                continue
            with pytest.raises(MoldauError) as wrong:
                collected(broker.oauth, file, timeout=3)
            assert secret not in str(wrong.value)
            provider = TokenProvider(client_settings(broker.oauth, file).config)
            with pytest.raises(MoldauError, match="gave no token: HTTP 401"):
                provider.token()


def test_a_cluster_that_is_not_there_or_knows_nobody_is_one_line(
    broker: Broker, tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(properties_text(password_login("PLAIN", "alice", "wrong-secret-word")))
    with pytest.raises(MoldauError) as wrong:
        collected(broker.sasl, file, timeout=3)
    assert "Authentication failed" in str(wrong.value)
    assert "wrong-secret-word" not in str(wrong.value)
    with pytest.raises(MoldauError, match="no answer for 2 s over PLAINTEXT"):
        collected("127.0.0.1:1", timeout=2)


def test_a_topic_that_is_deleted_while_it_is_asked_about_has_no_rows(
    groups: Groups, broker: Broker
) -> None:
    groups.create("short-lived")
    groups.create("long-lived")
    with asking(client_settings(broker.plaintext, None), TIMEOUT_S) as asker:
        topics, _ = topics_of(asker)
        groups.admin.delete_topics(["short-lived"])["short-lived"].result()
        rows, findings = partition_states(asker, topics)
    assert findings == []
    assert {row["topic"] for row in rows if row["topic"].endswith("-lived")} == {"long-lived"}


def test_a_broker_that_falls_silent_is_named_in_bounded_time(members: None, broker: Broker) -> None:
    with asking(client_settings(broker.plaintext, None), 2) as asker:
        topics, _ = topics_of(asker)
        began = time.monotonic()
        os.kill(broker.process.pid, signal.SIGSTOP)
        try:
            rows, findings = partition_states(asker, topics)
            with pytest.raises(MoldauError, match="no answer for 2 s"):
                group_listings(asker)
        finally:
            os.kill(broker.process.pid, signal.SIGCONT)
        assert time.monotonic() - began < 15
        assert len(rows) == len(findings) == sum(len(topic.partitions) for topic in topics)
        assert "no answer for 2 s" in findings[0]
        assert "high_watermark" not in rows[0]
        assert group_listings(asker) != []


@pytest.mark.parametrize(
    ("group_id", "java_says"),
    [("", 0), ("hello", 99_162_322), ("polygenelubricants", 0), ("\N{PARTY POPPER}", 1_773_261)],
)
def test_a_group_is_kept_where_java_says(group_id: str, java_says: int) -> None:
    """The third hashes to Integer.MIN_VALUE, whose absolute value Kafka takes for 0."""
    assert offsets_partition(group_id, 50) == java_says % 50
