"""Over a hundred groups of the four types on a broker that keeps offsets for a minute.

moldau foretells at each poll; then each offset, each group and each description goes when it said.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from broker_support import Broker, running_broker
from broker_watch_support import ELIGIBLE, LATE_MS, Watched, watching
from certificate_support import make_certificate
from confluent_kafka import ConsumerGroupTopicPartitions
from groups_support import PARTITIONS, TOPIC, Groups
from raw_client_support import NONE, RawClient
from spark_support import rows

RETENTION_MS = 60_000
CHECK_MS = 6_000
SETTINGS = {
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": str(CHECK_MS),
    "group.streams.topology.description.plugin.class":
        "org.apache.kafka.server.streams.InMemoryTopologyDescriptionPlugin",
}  # fmt: skip
OF_EACH_TYPE = 30
WITH_MEMBERS, WITHOUT_OFFSETS, EXPLICIT = 4, 6, 4
EXPLICIT_MS = 40_000
PAUSE_S = 0.2  # so that they do not all end in one sweep
SHARE = "share"
TYPES = ("classic", "consumer", SHARE, "streams")
GROUPS = {f"{kind}-{n}": kind for kind in TYPES for n in range(OF_EACH_TYPE)}
ENDING = {group for group, kind in GROUPS.items() if kind != SHARE}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    certificate = make_certificate(tmp_path_factory.mktemp("certificate"))
    with running_broker(tmp_path_factory.mktemp("broker"), certificate, SETTINGS) as started:
        yield started


@pytest.fixture(scope="module")
def groups(broker: Broker) -> Groups:
    made = Groups(broker.plaintext)
    made.create(TOPIC, PARTITIONS)
    # cycles tick since the start of the broker, sweeps since its __consumer_offsets is there: this
    # way most of an interval lies between a sweep and the next cycle, in which moldau can look
    time.sleep((CHECK_MS + CHECK_MS // 5) / 1_000)
    made.commit("first", p0=0)
    return made


@pytest.fixture(scope="module")
def client(broker: Broker) -> Iterator[RawClient]:
    opened = RawClient(broker.plaintext)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def watched(
    broker: Broker, groups: Groups, client: RawClient, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    with watching(tmp_path_factory.mktemp("watched"), broker, SETTINGS) as watched:
        for group, kind in GROUPS.items():
            if has_offsets(group):
                make(groups, client, kind, group)
                time.sleep(PAUSE_S)
        watched.poll()
        agrees_with_kafka(watched, groups, broker, client)
        make(groups, client, "streams", "canary")
        watched.read_until_cleared("canary")  # so the next cycle is most of an interval away
        for group, kind in GROUPS.items():
            if not has_offsets(group):
                make(groups, client, kind, group)
        watched.poll()
        watched.poll_until_gone(ENDING, within_s=240)
        yield watched


def number_of(group: str) -> int:
    return int(group.rpartition("-")[2])


def has_offsets(group: str) -> bool:
    is_early = number_of(group) >= WITHOUT_OFFSETS
    return GROUPS[group] == SHARE or GROUPS[group] != "streams" or is_early


def offsets_of(group: str) -> dict[int, int]:
    return {index: 10 * number_of(group) + index for index in range(1 + number_of(group) % 2)}


def make(groups: Groups, client: RawClient, kind: str, group: str) -> None:
    """A group that has had a member, or none at all, and is empty."""
    if kind == "classic":
        if number_of(group) < WITH_MEMBERS:
            with groups.member(group):
                pass
            return
    else:
        with client.member(kind, group, TOPIC) as member:
            assert kind != "streams" or member.push() == NONE
    if kind != SHARE and group in GROUPS and has_offsets(group):
        is_explicit = OF_EACH_TYPE - number_of(group) <= EXPLICIT
        client.commit(group, TOPIC, offsets_of(group), EXPLICIT_MS if is_explicit else -1)


def agrees_with_kafka(watched: Watched, groups: Groups, broker: Broker, client: RawClient) -> None:
    """Types, states, epochs and committed offsets are what Kafka itself answers."""
    told = watched.groups()
    listed = watched.listed_by(broker)
    made = {group: kind for group, kind in GROUPS.items() if has_offsets(group)}
    assert len(made) > 100
    committed: dict[str, dict[int, int]] = {}
    sql = "select group_id, partition_index, committed_offset from state.group_offsets"
    for group, index, offset in rows(watched.session, sql):
        committed.setdefault(group, {})[index] = offset
    for group, kind in made.items():
        assert told[group].kind == listed[group].kind == kind
        assert told[group].state == listed[group].state == "EMPTY"
        if kind != "classic":
            described = client.describe(kind, group)
            assert (described.state, described.group_epoch) == ("Empty", told[group].epoch), group
        asked = [ConsumerGroupTopicPartitions(group)]
        [answer] = groups.admin.list_consumer_group_offsets(asked).values()
        kafkas = {each.partition: each.offset for each in answer.result().topic_partitions}
        assert committed.get(group, {}) == kafkas, group


def test_each_offset_expires_within_one_check_interval_of_what_was_foretold(
    watched: Watched,
) -> None:
    first = watched.polls[0]
    expired = watched.offset_tombstones()
    with_offsets = [group for group in ENDING if has_offsets(group)]
    assert {group for group, _ in expired} == {*with_offsets, "first"}
    late = {}
    for place, tombstone in expired.items():
        late[place] = tombstone.at_ms - first.expiries[place]
        assert 0 <= late[place] <= CHECK_MS + LATE_MS, place
    print(f"{len(late)} offsets, {max(late.values())} ms after their expiry at most")


def test_each_group_goes_within_one_check_interval_of_what_was_foretold(watched: Watched) -> None:
    first, expired, removed = watched.polls[0], watched.offset_tombstones(), {}
    for group, tombstone in watched.group_tombstones().items():
        removed[group] = tombstone.at_ms
    assert removed.keys() >= ENDING
    for group in (group for group in ENDING if GROUPS[group] in ("classic", "consumer")):
        decision, due_ms = first.sweeps[group]
        assert decision == "keep" and due_ms is not None
        assert 0 <= removed[group] - due_ms <= CHECK_MS + LATE_MS, group
        assert removed[group] == max(r.at_ms for (g, _), r in expired.items() if g == group)
    for group, deletion in watched.deletions().items():
        assert deletion.gone
        assert 0 <= deletion.gone.at_ms - deletion.clear.at_ms <= CHECK_MS + LATE_MS, group


def test_each_deletion_of_a_description_was_announced(watched: Watched) -> None:
    deletions = watched.deletions()
    assert deletions.keys() >= {group for group in ENDING if GROUPS[group] == "streams"}
    announced = {group for group, each in deletions.items() if each.was_announced(watched.polls)}
    print(f"{len(announced)} of {len(deletions)} announced, in {len(watched.polls)} polls")
    assert deletions.keys() - announced <= {"canary"}
    for group, deletion in deletions.items():
        before = deletion.polls_before(watched.polls)
        assert {poll.eligibility[group] for poll in before} <= {ELIGIBLE}
        assert {poll.sweeps[group][0] for poll in before} <= {"defer"}


def test_share_groups_stay(watched: Watched) -> None:
    kept = {group for group, kind in GROUPS.items() if kind == SHARE}
    assert kept <= watched.groups().keys()
