"""A real broker with the topology plugin cleans up, and does what moldau said before.

Groups of every type end by themselves. The expiry of their offsets is explicit, so that nobody
waits a minute; `make kafka-test` waits for `offsets.retention.minutes`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from broker_support import CHECK_INTERVAL_MS, Broker
from broker_watch_support import ELIGIBLE, LATE_MS, Watched, watching
from confluent_kafka import ConsumerGroupTopicPartitions
from groups_support import TOPIC, Groups
from raw_client_support import NONE, RawClient
from spark_support import rows

RETENTION_MS = 15_000  # a machine that is busy takes seconds to ask for all that is compared before
KINDS = {"x-classic": "classic", "x-consumer": "consumer", "x-streams": "streams"}
SHARE = "x-share"
# one after the other until one was announced in time: a busy machine may look too late
WITHOUT_OFFSETS = ("y-streams-1", "y-streams-2", "y-streams-3", "y-streams-4", "y-streams-5")


@pytest.fixture(scope="module")
def client(broker: Broker, groups: Groups) -> Iterator[RawClient]:
    groups.commit("x-first", p0=0)  # makes __consumer_offsets, which a heartbeat does not
    opened = RawClient(broker.plaintext)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def watched(
    broker: Broker, groups: Groups, client: RawClient, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    """From the first commit to the last tombstone."""
    with watching(tmp_path_factory.mktemp("watched"), broker) as watched:
        make_groups(client)
        watched.poll()
        agrees_with_kafka(watched, groups, broker, client)
        for group in WITHOUT_OFFSETS:
            join_and_leave(client, "streams", group)
            watched.poll()
            # once a cycle of the broker is seen, most of an interval is left to look at the next
            if watched.read_until_cleared(group).was_announced(watched.polls):
                break
        watched.poll_until_gone({*KINDS, *WITHOUT_OFFSETS})
        yield watched


def join_and_leave(client: RawClient, kind: str, group: str) -> None:
    with client.member(kind, group, TOPIC) as member:
        assert kind != "streams" or member.push() == NONE


def make_groups(client: RawClient) -> None:
    for group, kind in {**KINDS, SHARE: "share"}.items():
        if kind != "classic":
            join_and_leave(client, kind, group)
    for number, group in enumerate(KINDS):
        client.commit(group, TOPIC, {0: 1 + number, 2: 7}, RETENTION_MS + 500 * number)


def agrees_with_kafka(watched: Watched, groups: Groups, broker: Broker, client: RawClient) -> None:
    """Types, states, epochs and committed offsets are what Kafka itself answers."""
    told = watched.groups()
    listed = watched.listed_by(broker)
    for group, kind in {**KINDS, SHARE: "share"}.items():
        assert told[group].kind == listed[group].kind == kind
        assert told[group].state == listed[group].state == "EMPTY"
        if kind != "classic":
            described = client.describe(kind, group)
            assert (described.state, described.group_epoch) == ("Empty", told[group].epoch), group
    offsets = (
        "select partition_index, committed_offset from state.group_offsets "
        "where group_id = '{}' and not is_deleted"
    )
    for group in KINDS:
        [answer] = groups.admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)]
        ).values()
        kafkas = {each.partition: each.offset for each in answer.result().topic_partitions}
        assert dict(rows(watched.session, offsets.format(group))) == kafkas, group
        assert len(kafkas) == 2


def test_offsets_and_groups_expire_within_one_check_interval_of_what_was_foretold(
    watched: Watched,
) -> None:
    expired = watched.offset_tombstones()
    assert expired.keys() == {(group, index) for group in KINDS for index in (0, 2)}
    first = watched.polls[0]
    for (group, index), tombstone in expired.items():
        foretold = first.expiries[group, index]
        assert first.said_at_ms < foretold <= tombstone.at_ms
        assert tombstone.at_ms - foretold <= CHECK_INTERVAL_MS + LATE_MS
        assert first.sweeps[group] == ("keep", foretold)
    removed = watched.group_tombstones()
    assert removed.keys() >= KINDS.keys()
    for group in ("x-classic", "x-consumer"):
        assert removed[group].at_ms == expired[group, 0].at_ms, "in the same sweep"


def test_a_description_was_called_eligible_before_the_broker_deleted_it(watched: Watched) -> None:
    deletions = watched.deletions()
    assert "x-streams" in deletions
    assert any(deletion.was_announced(watched.polls) for deletion in deletions.values())
    assert watched.polls[0].eligibility["x-streams"] == "OFFSETS_PRESENT"
    for group, deletion in deletions.items():
        before = deletion.polls_before(watched.polls)
        assert {poll.eligibility[group] for poll in before} <= {ELIGIBLE}
        assert {poll.sweeps[group][0] for poll in before} <= {"defer"}


def test_a_description_is_deleted_before_its_group_as_the_sweep_foretold(watched: Watched) -> None:
    for group, deletion in watched.deletions().items():
        assert deletion.ready.offset < deletion.barrier.offset < deletion.clear.offset
        assert deletion.gone
        assert deletion.clear.offset < deletion.gone.offset
        for cleared, gone in ((deletion.clear, deletion.gone), (deletion.ready, deletion.clear)):
            assert gone.at_ms - cleared.at_ms <= CHECK_INTERVAL_MS + LATE_MS
        for poll in deletion.polls_between(watched.polls):
            assert poll.sweeps[group][0] == "tombstone"
            assert poll.eligibility[group] == "NOTHING_STORED"


def test_a_share_group_stays(watched: Watched) -> None:
    assert SHARE in watched.groups()
    assert {poll.sweeps[SHARE][0] for poll in watched.polls} == {"keep"}
