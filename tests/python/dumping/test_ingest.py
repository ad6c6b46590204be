"""`moldau ingest` at a real Kafka: what it reads is in the tables once, whatever comes between."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from broker_support import USERS, Broker, password_login, properties_text
from confluent_kafka.admin import AclOperation, ResourceType
from groups_support import Groups, right
from shell_support import without_settings
from spark_support import commits, dying_at, fresh, mart, rows

from moldau.cli import run
from moldau.cli.bringing import Bringing
from moldau.collecting.collect import collect
from moldau.collecting.known import Known
from moldau.dumping.client_settings import client_settings
from moldau.dumping.source import LibrdkafkaSource, connected
from moldau.errors import MoldauError
from moldau.loading.bring import Loaded
from moldau.runs.ingest import ingest, look, topics_of
from moldau.runs.load import load, load_rows
from moldau.runs.opening import open_session
from moldau.runs.resume import finish_interrupted
from moldau.runs.ticks import WarehouseTicks
from moldau.runs.watch import IN_FLIGHT
from moldau.sessions.session import Session
from moldau.settings import Settings, load_settings

OFFSETS = "__consumer_offsets"
SYNCS = "mm2-offset-syncs.B.internal"
CLUSTER = "live"
TABLES = ("raw.records", "decoded.group_records", "state.groups", "state.group_offsets")


@pytest.fixture(scope="module")
def source(broker: Broker, groups: Groups) -> LibrdkafkaSource:
    return connected(client_settings(broker.plaintext, None), 20, pytest.fail)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with open_session(load_settings(None, tmp_path / "w"), "pytest") as opened:
        yield opened


def poll(session: Session, source: LibrdkafkaSource, *topics: str, **more: Any) -> list[int]:
    """New records of each load."""
    named = topics_of(source, topics)
    loads = list(ingest(fresh(session), CLUSTER, source, named, pytest.fail, **more))
    assert not any(loaded.rows_refused for loaded in loads)
    return [loaded.rows_new for loaded in loads]


def written(session: Session, table: str, cluster: str = CLUSTER) -> list[str]:
    """Rows without what each load has of its own."""
    own = "(cluster_id, run_id)" if "decoded" in table or "raw" in table else "(cluster_id)"
    changed = "changed_in_run_id"
    columns = f"* exclude {own}" if "state" not in table else f"* exclude (cluster_id, {changed})"
    sql = f"select {columns} from {table} where cluster_id = '{cluster}'"
    return sorted(repr(row) for row in rows(session, sql))


def test_what_is_ingested_is_what_a_dump_brings(
    session: Session, source: LibrdkafkaSource, broker: Broker, tmp_path: Path
) -> None:
    [new] = poll(session, source)
    file = tmp_path / "offsets.jsonl"
    words = ["--bootstrap-servers", broker.plaintext, "--topic", OFFSETS, "--to", str(file)]
    assert run(["dump", *words]) == 0
    assert load(fresh(session), [file], "dumped", "records").rows_new == new > 0
    for table in TABLES:
        assert written(session, table) == written(session, table, "dumped"), table


def test_a_poll_that_brings_nothing_writes_nothing(
    session: Session, source: LibrdkafkaSource, groups: Groups
) -> None:
    poll(session, source)
    before = commits(session.warehouse)
    assert poll(session, source) == []
    assert commits(session.warehouse) == before
    groups.commit("g-later", p0=1)
    assert poll(session, source) == [1]


def test_files_that_were_loaded_before_add_nothing(
    session: Session, source: LibrdkafkaSource, broker: Broker, groups: Groups, tmp_path: Path
) -> None:
    file = tmp_path / "offsets.jsonl"
    words = ["--bootstrap-servers", broker.plaintext, "--topic", OFFSETS, "--to", str(file)]
    assert run(["dump", *words]) == 0
    load(session, [file], CLUSTER, "records")
    assert poll(session, source) == [0]
    assert poll(session, source) == []
    groups.commit("g-after-the-file", p0=1)
    assert poll(session, source) == [1]
    assert load(fresh(session), [file], CLUSTER, "records").rows_new == 0


def test_small_loads_bring_the_same(
    session: Session, source: LibrdkafkaSource, groups: Groups
) -> None:
    groups.create("A.checkpoints.internal", 2)
    groups.produce(
        "A.checkpoints.internal", *({"key": b"%d" % i, "value": b""} for i in range(2_000))
    )
    several = poll(session, source, rows=1)
    assert len(several) > 1
    with open_session(load_settings(None, session.warehouse.with_name("w2")), "pytest") as other:
        assert poll(other, source) == [sum(several)]
        for table in TABLES:
            assert written(session, table) == written(other, table), table


def test_an_open_transaction_hides_what_comes_after_it(
    session: Session, source: LibrdkafkaSource, groups: Groups
) -> None:
    poll(session, source)
    transaction = groups.begin("g-open", p0=1)
    try:
        groups.commit("g-open", p1=1)
        groups.commit("g-elsewhere-1", p0=1)
        groups.commit("g-elsewhere-2", p0=1)
        groups.commit("g-elsewhere-3", p0=1)
        poll(session, source)
        held = rows(session, "select high_watermark - last_stable_offset from state.log_positions")
        found = f"select * from state.groups where cluster_id = '{CLUSTER}' and group_id = 'g-open'"
        assert rows(session, found) == []
    finally:
        transaction.commit_transaction(30)
    poll(session, source)
    assert len(rows(session, found)) == 1
    assert max(row[0] for row in held) >= 0


@pytest.mark.parametrize("point", ["after_bring", "after_fold", "before_run_row", "after_run_row"])
def test_a_load_that_was_killed_is_finished_with_its_positions(
    session: Session, source: LibrdkafkaSource, point: str
) -> None:
    with dying_at(point):
        poll(session, source)
    finish_interrupted(fresh(session))
    assert poll(session, source) == []
    with open_session(load_settings(None, session.warehouse.with_name("w2")), "pytest") as other:
        poll(other, source)
        for table in TABLES:
            assert written(session, table) == written(other, table), table


def test_a_topic_that_was_created_anew_is_refused(
    session: Session, source: LibrdkafkaSource, groups: Groups
) -> None:
    groups.create(SYNCS)
    groups.produce(SYNCS, {"key": b"k", "value": b"v"})
    assert poll(session, source, SYNCS) == [1]
    groups.admin.delete_topics([SYNCS])[SYNCS].result()
    gone(groups, SYNCS)
    groups.create(SYNCS)
    groups.produce(SYNCS, {"key": b"k", "value": b"other"})
    before = commits(session.warehouse)
    with pytest.raises(MoldauError, match=f"{SYNCS} is left out: it has the id"):
        poll(session, source, SYNCS)
    assert commits(session.warehouse) == before


def test_topics_that_cannot_be_read_are_left_out_and_named(
    broker: Broker, groups: Groups, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of three topics one is created anew, and one may only be described."""
    anew, denied, read = (f"{name}.checkpoints.internal" for name in ("anew", "denied", "read"))
    for topic in (anew, denied, read):
        groups.create(topic)
        groups.produce(topic, {"key": b"k", "value": b"v"})
    operations = {anew: AclOperation.READ, read: AclOperation.READ, denied: AclOperation.DESCRIBE}
    rights = [
        right("carol", ResourceType.TOPIC, topic, operation)
        for topic, operation in operations.items()
    ]
    file = tmp_path / "carol.properties"
    file.write_text(properties_text(password_login("PLAIN", "carol", USERS["carol"])))
    words = ["ingest", "--cluster", CLUSTER, "--bootstrap-servers", broker.sasl]
    place = ["--properties", str(file), "--warehouse", str(tmp_path / "w"), "--format", "json"]
    groups.allow(*rights)
    try:
        assert run([*words, *place]) == 2
        first = capsys.readouterr()
        groups.admin.delete_topics([anew])[anew].result()
        gone(groups, anew)
        groups.create(anew)
        groups.produce(read, {"key": b"k", "value": b"more"})
        assert run([*words, *place]) == 2
        second = capsys.readouterr()
        assert run([*words, *place]) == 2
        nothing_new = capsys.readouterr()
        assert run([*words, *place, "--topics", denied]) == 1
    finally:
        groups.forbid(*rights)
    assert [row["rows_new"] for row in json.loads(first.out)] == [2]
    missing = "Topic authorization failed: READ is missing on it"
    of_denied = f"moldau: {denied} is left out: {broker.sasl}: topic {denied}: {missing}"
    assert left_out(first.err) == [of_denied]
    assert [row["rows_new"] for row in json.loads(second.out)] == [1]
    of_anew, *rest = left_out(second.err)
    assert of_anew.startswith(f"moldau: {anew} is left out: it has the id ")
    assert of_anew.endswith(f"under another name than {CLUSTER}, by `--topics {anew}`")
    assert rest == [of_denied]
    assert json.loads(nothing_new.out) == []
    assert left_out(nothing_new.err) == [of_anew, *rest]


def left_out(said: str) -> list[str]:
    return [line for line in said.splitlines() if " is left out: " in line]


def test_another_cluster_by_the_same_name_is_refused(
    session: Session, source: LibrdkafkaSource, groups: Groups
) -> None:
    other = {"topic_id": "2gLQd7cXQ6WQnWCvuV1hXw", "topic": OFFSETS, "partition": 0}
    told = {"broker_id": 1, "is_leader": True, "taken_at_ms": 1}
    load_rows(session, [other | told], "another", CLUSTER, "partition_states")
    groups.create("of-another.checkpoints.internal")
    before = commits(session.warehouse)
    for topic in (OFFSETS, "of-another.checkpoints.internal"):
        with pytest.raises(MoldauError, match="or this is another cluster"):
            poll(session, source, topic)
    assert commits(session.warehouse) == before


@pytest.mark.parametrize("topics", ["", " , "])
def test_no_name_of_a_topic_is_not_all_of_them(
    topics: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ingest", "--cluster", CLUSTER, "--bootstrap-servers", "127.0.0.1:9"]
    assert run([*words, "--topics", topics, "--warehouse", str(tmp_path / "w")]) == 1
    assert "--topics names no topic: NAME,... are read" in capsys.readouterr().err


def gone(groups: Groups, topic: str) -> None:
    deadline = time.monotonic() + 30
    while topic in groups.topics() and time.monotonic() < deadline:
        time.sleep(0.1)


def test_new_partitions_are_read_and_what_was_deleted_unread_is_told(
    session: Session, source: LibrdkafkaSource, broker: Broker, groups: Groups
) -> None:
    topic = "mm2-offset-syncs.C.internal"
    groups.create(topic)
    groups.produce(topic, {"key": b"a", "value": b"1"})
    assert poll(session, source, topic) == [1]
    from confluent_kafka.admin import NewPartitions

    groups.admin.create_partitions([NewPartitions(topic, 2)])[topic].result()
    groups.produce(
        topic, *({"key": b"a", "value": b"%d" % i, "partition": i % 2} for i in range(8))
    )
    groups.delete_records(topic, 0, 3)
    told: list[str] = []
    source = connected(client_settings(broker.plaintext, None), 20, told.append)
    [loaded] = ingest(fresh(session), CLUSTER, source, [topic], told.append)
    assert loaded.rows_new == 6
    assert told == [f"{topic}-0: the records from offset 1 to 2 were deleted before they were read"]


def test_killed_again_and_again_each_record_is_there_once(
    broker: Broker, groups: Groups, tmp_path: Path
) -> None:
    chance = random.Random(37)
    topic = "mm2-offset-syncs.D.internal"
    groups.create(topic, 2)
    sent = 0
    for _ in range(6):
        with going_on(tmp_path, broker.plaintext, topic) as process:
            deadline = time.monotonic() + chance.uniform(0.5, 4)
            while time.monotonic() < deadline:
                some = [{"key": b"%d" % (sent + i), "value": b"v"} for i in range(50)]
                groups.produce(topic, *some)
                sent += len(some)
            process.send_signal(signal.SIGKILL)
    words = ["ingest", "--cluster", CLUSTER, "--bootstrap-servers", broker.plaintext]
    assert run([*words, "--topics", topic, "--warehouse", str(tmp_path / "w")]) == 0
    with open_session(load_settings(None, tmp_path / "w"), "pytest") as session:
        keys = rows(session, "select decode(record_key, 'utf-8') from raw.records")
        assert sorted(int(key) for (key,) in keys) == list(range(sent))


def going_on(
    folder: Path, servers: str, topic: str, *more: str, **piped: Any
) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-c", "from moldau.cli import main; main()", "ingest"]
    words = ["--cluster", CLUSTER, "--bootstrap-servers", servers, "--topics", topic]
    rest = ["--continuous", "--interval", "0.1", "--warehouse", str(folder / "w"), *more]
    env = without_settings() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    piped = {"stdout": subprocess.DEVNULL} | piped
    return subprocess.Popen([*program, *words, *rest], env=env, **piped)


def test_a_cluster_that_is_away_is_asked_again_until_sigterm(
    broker: Broker, groups: Groups, tmp_path: Path
) -> None:
    away = going_on(tmp_path, "127.0.0.1:9", OFFSETS, "--timeout", "1", stderr=subprocess.PIPE)
    with away as process:
        assert process.stderr
        for _ in range(2):
            line = process.stderr.readline().decode()
            assert line.startswith("moldau: 127.0.0.1:9: no answer for 1 s")
            assert line.endswith("; the next poll tries again\n")
        process.terminate()
        assert process.wait(20) == 0


@pytest.mark.parametrize("verb", ["ingest", "watch"])
def test_a_signal_ends_what_waits_for_a_silent_broker(verb: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        (tmp_path / "moldau.yml").write_text(
            f"clusters:\n  {CLUSTER}:\n    bootstrap.servers: {address}\n"
            "    offsets.retention.check.interval.ms: 1000\n"
        )
        program = [sys.executable, "-c", "from moldau.cli import main; main()", verb]
        own = ["--continuous"] if verb == "ingest" else ["--engine", "duckdb"]
        words = ["--cluster", CLUSTER, "--timeout", "600", "--warehouse", str(tmp_path / "w")]
        env = without_settings() | {"PYTHONPATH": os.pathsep.join(sys.path)}
        with subprocess.Popen([*program, *own, *words], cwd=tmp_path, env=env) as process:
            silent.settimeout(120)
            connection, _ = silent.accept()
            process.terminate()
            assert process.wait(60) == 0
            connection.close()


def test_freshness_says_what_holds_a_topic_and_how_old_what_is_known_is(
    session: Session, source: LibrdkafkaSource, groups: Groups
) -> None:
    poll(session, source)
    [fresh_one] = freshness(session)
    assert (fresh_one["offsets_behind"], fresh_one["held_by"], fresh_one["is_stale"]) == (
        0,
        None,
        False,
    )
    transaction = groups.begin("g-holds", p0=1)
    try:
        before = commits(session.warehouse)
        poll(session, source)
        assert commits(session.warehouse) == before
        [held] = freshness(session)
        assert held["known_up_to_at"] > fresh_one["known_up_to_at"]
        assert (held["held_by"], held["held_partition_count"]) == ("OPEN_TRANSACTION", 1)
        assert held["hidden_offsets"] == held["offsets_behind"] == 1
        later_ms = int(time.time() * 1000) + 1_201_000
        [stale] = freshness(session, later_ms)
        assert stale["is_stale"]
        assert stale["age_ms"] > 1_200_000
    finally:
        transaction.abort_transaction(30)


def test_what_was_seen_and_not_read_is_not_known(
    session: Session, source: LibrdkafkaSource, groups: Groups
) -> None:
    """As where the right to READ is gone: the poll sees ends, and stops."""
    poll(session, source)
    [before] = freshness(session)
    groups.commit("g-unread", p0=1)
    look(session.warehouse, CLUSTER, source, [OFFSETS], lambda _: None)
    [after] = freshness(session)
    assert after["offsets_behind"] > 0
    assert after["known_up_to_at"] is None or after["known_up_to_at"] <= before["known_up_to_at"]
    assert freshness(session, int(time.time() * 1000) + 1_201_000)[0]["is_stale"]


def freshness(session: Session, at_ms: int | None = None) -> list[dict[str, Any]]:
    """Of __consumer_offsets."""
    return [row for row in mart(session, "freshness", at_ms) if row["topic_name"] == OFFSETS]


def test_status_and_explain_say_what_is_behind_and_what_is_old(
    session: Session, source: LibrdkafkaSource, groups: Groups, capsys: pytest.CaptureFixture[str]
) -> None:
    transaction = groups.begin("g-told", p0=1)
    try:
        poll(session, source)
    finally:
        transaction.abort_transaction(30)
    place = ["--warehouse", str(session.warehouse)]
    later = str(int(time.time() * 1000) + 1_300_000)
    capsys.readouterr()
    assert run(["status", *place]) == 0
    assert "an open transaction holds partition" in capsys.readouterr().out
    assert run(["explain", "g-simple", "--at", later, *place]) == 0
    said = capsys.readouterr().err.splitlines()
    held, old = (line for line in said if OFFSETS in line)
    assert "__consumer_offsets of live is read up to 1 offset before its end" in held
    assert "longer than two check intervals" in old


def test_a_group_that_only_a_transaction_knows_is_explained_in_words(
    session: Session, source: LibrdkafkaSource, broker: Broker, groups: Groups,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Then those whose listing says more than the records, and at last the ends."""
    place = ["--warehouse", str(session.warehouse)]
    committed, aborted = groups.begin("g-only-open", p0=1), groups.begin("g-only-aborted", p0=1)
    try:
        poll(session, source)
        assert run(["explain", "g-only-open", *place]) == 1
        said = capsys.readouterr().err
        assert "nothing is known about 'g-only-open'" in said
        assert "is read up to" in said
        assert said.endswith(", and what only stands behind it is not known yet\n")

        take_in(session, broker)
        assert run(["explain", "g-only-open", *place]) == 0
        told = capsys.readouterr().out
        assert f"Group g-only-open in cluster {CLUSTER}: listed by Kafka, and in no record" in told
        assert "(OPEN_TRANSACTION)\n  1 offset waited then" in told
        assert run(["status", *place]) == 0
        assert "Group: g-only-open of live is listed by Kafka" in capsys.readouterr().out
    finally:
        committed.commit_transaction(30)
        aborted.abort_transaction(30)
    take_in(session, broker)
    assert reason(session, "g-only-open") == "BEHIND_TRANSACTION", "as far as it was read"
    poll(session, source)
    assert reason(session, "g-only-open") == "IN_RECORDS"
    assert reason(session, "g-only-aborted") == "NOTHING_COMMITTED"
    capsys.readouterr()
    assert run(["explain", "g-only-aborted", *place, "--format", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["decision"], row["reason_code"]) == (None, "NOTHING_COMMITTED")


def take_in(session: Session, broker: Broker) -> None:
    found = collect(client_settings(broker.plaintext, None), 20, Known())
    for kind in ("group_listings", "open_transactions"):
        load_rows(fresh(session), found.rows[kind], "broker", CLUSTER, kind)


def reason(session: Session, group: str) -> str:
    [row] = [row for row in mart(fresh(session), "listed_groups") if row["group_id"] == group]
    return str(row["reason_code"])


class Found(Bringing):
    """Where a cluster is not that which moldau.yml says, once `at` is set."""

    at: Bringing | None = None

    def bring(self, cluster: str, session: Callable[[], Session]) -> Iterator[Loaded]:
        return self.at.bring(cluster, session) if self.at else super().bring(cluster, session)


def test_while_a_cluster_is_away_skipped_ticks_are_recorded_once(
    broker: Broker, groups: Groups, tmp_path: Path
) -> None:
    def reaching(address: str) -> Settings:
        config = tmp_path / "moldau.yml"
        config.write_text(f"clusters: {{{CLUSTER}: {{bootstrap.servers: '{address}'}}}}\n")
        return load_settings(config, tmp_path / "w")

    settings = reaching("127.0.0.1:9")
    told: list[str] = []
    live = Found(settings, 1, told.append)
    ticks = WarehouseTicks(settings, [CLUSTER], lambda row: None, told.append, lambda: None, live)
    [timer] = ticks.timers()

    def missed() -> int:
        """Two flights, in each of which two ticks are missed."""
        for _ in range(2):
            ticks.run(timer)
            for late_ms in (2, 1):
                ticks.drop(timer, late_ms, IN_FLIGHT)
            assert ticks.settle()
        with open_session(settings, "pytest") as session:
            sql = "select count(*) from state.runs where status = 'skipped_in_flight'"
            return rows(session, sql)[0][0]

    assert missed() == 1
    assert "more of this is not recorded while live is away" in told[-1]
    live.at = Bringing(reaching(broker.plaintext), 20, told.append)
    assert missed() == 1 + 4
    assert f"{CLUSTER} is read again" in told


def test_a_watch_reads_and_asks_the_cluster_in_each_interval(
    broker: Broker, groups: Groups, tmp_path: Path
) -> None:
    (tmp_path / "moldau.yml").write_text(
        f"clusters:\n  {CLUSTER}:\n    bootstrap.servers: {broker.plaintext}\n"
        "    offsets.retention.check.interval.ms: 2000\n"
    )
    program = [sys.executable, "-c", "from moldau.cli import main; main()", "watch"]
    told = ["--engine", "duckdb", "--warehouse", str(tmp_path / "w"), "--format", "json"]
    env = without_settings() | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [*program, *told], cwd=tmp_path, env=env, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        threading.Timer(120, process.kill).start()  # what never comes is not waited for
        lines = map(json.loads, process.stdout)
        first = list(itertools.takewhile(lambda row: row["kind"] == "load", lines))
        groups.commit("g-while-watched", p0=1)
        later = next(row for row in lines if row["counts"].get("rows_new") == 1)
        process.terminate()
        assert process.wait(60) == 0
    assert first[0]["counts"]["rows_new"] > 10
    assert len(first) >= 3, "the records, and what an admin client is told"
    assert later["kind"] == "load"
    with open_session(load_settings(None, tmp_path / "w"), "pytest") as session:
        lag = rows(session, "select status from marts.group_lag where group_id = 'g-while-watched'")
        assert rows(session, "select * from state.group_listings")
        assert lag
