"""A real MirrorMaker 2 between two clusters is stopped and started again.

What moldau says before the start is what it then writes: checkpoints, and offsets of the groups.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from groups_support import Groups
from mirror_maker_support import (
    CHECKPOINTS,
    SYNCS,
    Pair,
    Place,
    checkpoints,
    end_of,
    mirror_maker,
    running_pair,
    settle,
    wait_until,
)
from spark_support import dicts, fresh, mart

from moldau.dumping.client_settings import client_settings
from moldau.dumping.source import connected
from moldau.instants import now_ms
from moldau.runs.decide import decide
from moldau.runs.ingest import ingest, topics_of
from moldau.runs.load import load_rows
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings

TOPIC, MIRRORED = "orders", "A.orders"
STEPS = (0, 1, 100, 320, 600)  # records of each partition; the first one has a sync
RECORDS = STEPS[-1]
FLOW = "flow"
CONFIG = f"""
engine: duckdb
clusters: {{A: {{}}, B: {{}}}}
flows:
  {FLOW}: {{source: A, target: B, ruleset: sparse_reads_checkpoints, topics: "orders.*"}}
"""


@dataclass(frozen=True)
class Foretold:
    """By place: the rows of both tables; what MirrorMaker had written when they were decided."""

    translations: dict[Place, dict[str, Any]]
    writes: dict[Place, dict[str, Any]]
    checkpoints: dict[Place, tuple[int, int]]


@dataclass(frozen=True)
class Story:
    """`before`: MirrorMaker is stopped; `after`: it ran again, and is stopped."""

    before: Foretold
    after: Foretold
    target: Groups


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with running_pair(tmp_path_factory.mktemp("pair")) as started:
        yield started


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("mirrored")
    (folder / "moldau.yml").write_text(CONFIG)
    settings = load_settings(folder / "moldau.yml", folder / "warehouse")
    with open_session(settings, "pytest") as opened:
        yield opened


@pytest.fixture(scope="module")
def story(pair: Pair, session: Session) -> Story:
    source, target = Groups(pair.a), Groups(pair.b)
    source.create(TOPIC, 2)
    with mirror_maker(pair):
        for start, end in itertools.pairwise(STEPS):
            produce(source, end - start)
            wait_until_mirrored(pair, end)
        source.commit("g-early", p0=20, p1=0)
        source.commit("g-middle", p0=301, p1=299)
        source.commit("g-end", p0=RECORDS, p1=RECORDS)
        source.commit("g-goes-back", p0=500)
        source.commit("g-moves", p0=100)
        wait_until(lambda: len(checkpoints(pair)) == 8, "all groups have checkpoints")
        settle(pair)
        source.commit("g-goes-back", p0=150)
        source.commit("g-moves", p0=450)
        wait_until(lambda: checkpoints(pair)["g-moves", MIRRORED, 0][0] == 450, "g-moves moved")
        settle(pair)
    source.commit("g-while-down", p0=400, p1=RECORDS)
    source.commit("g-moves", p0=RECORDS)
    tell_of_start(session, pair)
    before = foretold(session, pair)
    with mirror_maker(pair):
        wait_until(lambda: ("g-while-down", MIRRORED, 1) in checkpoints(pair), "it goes on")
        settle(pair)
    return Story(before, foretold(session, pair), target)


def wait_until_mirrored(pair: Pair, count: int) -> None:
    wait_until(
        lambda: all(end_of(pair.b, MIRRORED, index) >= count for index in range(2)), "mirrored"
    )


def produce(source: Groups, count: int) -> None:
    values = ({"value": b"v%d" % n, "partition": n % 2} for n in range(2 * count))
    source.produce(TOPIC, *values)


def tell_of_start(session: Session, pair: Pair) -> None:
    """MirrorMaker is about to start: it will read the syncs and the checkpoints that there are."""
    start = {
        "flow": FLOW, "started_at_ms": now_ms(), "checkpoints_readable": True,
        "syncs_end_offset": end_of(pair.a, SYNCS),
    }  # fmt: skip
    assert load_rows(fresh(session), [start], "test", "A", "mirror_task_starts").refused == []


def foretold(session: Session, pair: Pair) -> Foretold:
    """Read both clusters, and translate."""
    for cluster, address in (("A", pair.a), ("B", pair.b)):
        source = connected(client_settings(address, None), 20, pytest.fail)
        topics = topics_of(source, [])
        assert (SYNCS if cluster == "A" else CHECKPOINTS) in topics
        for loaded in ingest(fresh(session), cluster, source, topics, pytest.fail):
            assert not loaded.rows_refused
    decide(fresh(session), "translate", [], now_ms(), is_dry_run=True)

    def by_place(table: str) -> dict[Place, dict[str, Any]]:
        found = dicts(session, f"select * from decisions.{table}")
        return {
            (row["group_id"], row["target_topic_name"], row["partition_index"]): row
            for row in found
        }

    return Foretold(
        by_place("offset_translations"), by_place("target_offset_writes"), checkpoints(pair)
    )


def test_what_is_foretold_of_a_start_is_what_it_emits(story: Story) -> None:
    emitted = {
        place: row for place, row in story.before.translations.items() if row["decision"] == "emit"
    }
    assert {group for group, _, _ in emitted} >= {"g-while-down", "g-moves"}
    for place, row in emitted.items():
        wanted = (row["upstream_offset"], row["translated_offset"])
        assert story.after.checkpoints[place] == wanted, place
    kept = story.before.checkpoints.keys() - emitted.keys()
    assert len(kept) >= 5
    for place in kept:
        assert story.after.checkpoints[place] == story.before.checkpoints[place], place


@pytest.mark.parametrize("stage", ["before", "after"])
def test_its_checkpoints_are_the_translations_of_their_commits(story: Story, stage: str) -> None:
    """Or better ones: of its 64 syncs one may have gone that was there when it emitted."""
    told: Foretold = getattr(story, stage)
    repeated = 0
    for place, (upstream, downstream) in told.checkpoints.items():
        row = told.translations[place]
        if row["upstream_offset"] != upstream:
            continue
        if row["translated_offset"] == downstream:
            assert row["reason_code"] == "SKIP_REPEATED", place
            repeated += 1
        else:
            assert row["decision"] == "skip" and row["translated_offset"] < downstream, place
    assert repeated >= len(told.checkpoints) // 2


def test_a_sync_explains_each_checkpoint(session: Session, story: Story, pair: Pair) -> None:
    told = mart(session, "mirror_maker_checkpoints")
    assert len(told) == end_of(pair.b, CHECKPOINTS)
    assert {row["explanation"] for row in told} <= {"ON_SYNC", "BEHIND_SYNC"}


def test_the_groups_of_the_target_are_where_moldau_says(story: Story) -> None:
    """MirrorMaker has written all but the group that went back, which it does not set back."""
    for place, row in story.after.writes.items():
        group, topic, index = place
        asked = [ConsumerGroupTopicPartitions(group)]
        [answer] = story.target.admin.list_consumer_group_offsets(asked).values()
        offsets = {(t.topic, t.partition): t.offset for t in answer.result().topic_partitions}
        if group == "g-goes-back":
            assert row["reason_code"] == "TARGET_AHEAD"
            assert offsets[topic, index] > row["to_offset"]
        else:
            assert (row["reason_code"], row["to_offset"]) == ("TARGET_EQUAL", offsets[topic, index])
    to_write = {p: r for p, r in story.before.writes.items() if r["decision"] == "write"}
    assert {group for group, _, _ in to_write} >= {"g-while-down", "g-moves"}
    for place, row in to_write.items():
        assert story.after.checkpoints[place][1] == row["to_offset"], place
