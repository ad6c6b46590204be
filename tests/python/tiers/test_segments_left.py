"""What nobody needs any more in the object store: each story is a cluster.

That Spark finds the same is told by reading/test_marts.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from kafka_metadata import (
    COPY_FINISHED,
    COPY_STARTED,
    DELETE_FINISHED,
    DELETE_STARTED,
    Event,
    Segment,
)
from kafka_reference import Config
from small_partitions import NOW_MS, OPEN, copied, partition
from spark_support import fold, parquet_of, rows, with_clusters
from tier_support import Tiered, fold_tiers, tiered, topic_configs

from moldau.reading.explain.tiers import explain_tier_subject, tier_rows
from moldau.reading.explain.tiers_words import tier_in_words
from moldau.reading.health.doctor import examine
from moldau.runs.decide import decide
from moldau.sessions.session import Session

Epochs = dict[int, int]
Found = Sequence[tuple[str, ...]]  # finding, segment, and the other one


def started(
    name: str, start: int, end: int, at_ms: int = 0, broker: int = 1, epochs: Epochs | None = None
) -> list[Event]:
    segment = Segment(name, start, end, epochs or {0: start}, size=end + 1 - start)
    return [Event(name, COPY_STARTED, broker, at_ms, segment)]


def finished(
    name: str, start: int, end: int, at_ms: int = 0, broker: int = 1, epochs: Epochs | None = None
) -> list[Event]:
    return [
        *started(name, start, end, at_ms, broker, epochs),
        Event(name, COPY_FINISHED, broker, at_ms),
    ]


def deleted(name: str) -> list[Event]:
    return [Event(name, DELETE_STARTED), Event(name, DELETE_FINISHED)]


def copies(*events: list[Event], **more: Any) -> list[Tiered]:
    return [tiered("t", partition(**more), [one for several in events for one in several])]


SUPERSEDED: dict[str, tuple[list[Tiered], Found]] = {
    "same range": (
        copies(started("a", 0, 99), finished("b", 0, 99)),
        [("SUPERSEDED", "a", "b")],
    ),
    "several failed": (
        copies(started("a", 0, 99), started("c", 0, 99), finished("b", 0, 99)),
        [("SUPERSEDED", "a", "b"), ("SUPERSEDED", "c", "b")],
    ),
    "of another broker": (
        copies(started("a", 0, 99, broker=2), finished("b", 0, 99)),
        [("SUPERSEDED", "a", "b")],
    ),
    "finished by another broker": (
        copies(started("a", 0, 99), finished("b", 0, 99, broker=2)),
        [("SUPERSEDED", "a", "b")],
    ),
    "wider": (
        copies(started("a", 20, 99), finished("b", 0, 149)),
        [("SUPERSEDED", "a", "b")],
    ),
    "in two parts": (
        copies(started("a", 0, 99), finished("b", 0, 59), finished("c", 60, 120)),
        [("SUPERSEDED", "a", "b")],
    ),
    "over a later epoch": (
        copies(
            started("a", 0, 99),
            finished("b", 0, 149, epochs={0: 0, 1: 100}),
            lineage={0: 0, 1: 100},
        ),
        [("SUPERSEDED", "a", "b")],
    ),
    "newer than the finished one": (
        copies(finished("b", 0, 99), started("a", 0, 99)),
        [("SUPERSEDED", "a", "b")],
    ),
    "just begun again": (copies(finished("b", 0, 99), started("a", 0, 99, NOW_MS)), []),
    "gone past at once": (
        copies(started("a", 0, 99, NOW_MS), finished("b", 0, 99, NOW_MS)),
        [("SUPERSEDED", "a", "b")],
    ),
    "deleted since": (
        copies(started("a", 0, 99), finished("b", 0, 99), deleted("b")),
        [("SUPERSEDED", "a", "b")],
    ),
    "deleted before": (
        copies(finished("b", 0, 99), deleted("b"), started("a", 0, 99)),
        [("STUCK_COPY", "a", None)],
    ),
    "in part": (
        copies(started("a", 0, 99), finished("b", 50, 149)),
        [("STUCK_COPY", "a", None)],
    ),
    "with a hole": (
        copies(started("a", 0, 99), finished("b", 0, 39), finished("c", 60, 99)),
        [("STUCK_COPY", "a", None), ("HOLE", "c", "b")],
    ),
    "not at all": (
        copies(started("a", 0, 99), started("b", 0, 99), finished("c", 100, 199)),
        [("STUCK_COPY", "a", None), ("STUCK_COPY", "b", None)],
    ),
    "in another partition": (
        [
            *copies(started("a", 0, 99)),
            tiered("t", partition(), finished("b", 0, 99), index=1, is_told=False),
        ],
        [("STUCK_COPY", "a", None)],
    ),
    "of another lineage": (
        copies(
            started("a", 0, 99, epochs={5: 0}),
            finished("b", 0, 99, epochs={4: 0}),
            lineage={5: 0},
        ),
        [("STUCK_COPY", "a", None)],
    ),
    "of the lineage that won": (
        copies(
            started("a", 0, 99, epochs={5: 0}),
            finished("b", 0, 99, epochs={6: 0}),
            lineage={6: 0},
        ),
        [("SUPERSEDED", "a", "b")],
    ),
}

FAILED = started("a", 0, 99)
OLD = tiered("t", partition(), copied("s0", 0), is_known=False, incarnation=" old")
OLDER = tiered(
    "t", partition(), [*copied("s1", 0), *started("s2", 100, 199)], is_known=False, incarnation="er"
)
NEW = tiered("t", partition(), copied("s3", 0))
MARKED = [*copied("s0", 0), Event("s0", DELETE_STARTED)]


def gone(*events: Event, **more: Any) -> Tiered:
    return tiered("gone", partition(), events, is_known=False, **more)


ORPHANED: dict[str, tuple[list[Tiered], Found]] = {
    "made anew": ([OLD, NEW], [("ORPHANED", "s0", None)]),
    "made anew twice": (
        [OLD, OLDER, NEW],
        [("ORPHANED", "s0", None), ("ORPHANED", "s1", None), ("ORPHANED", "s2", None)],
    ),
    "topic deleted": (
        [OPEN, gone(*copied("s0", 0), *finished("s1", 0, 99), *FAILED)],
        [("ORPHANED", "a", None), ("ORPHANED", "s0", None), ("ORPHANED", "s1", None)],
    ),
    "without a snapshot": ([gone(*copied("s0", 0))], []),
    "being deleted": ([OPEN, gone(*MARKED)], [("DANGLING_DELETE", "s0", None)]),
    "deleted half way": (
        [OPEN, gone(*MARKED, *copied("s1", 100))],
        [("DANGLING_DELETE", "s0", None), ("ORPHANED", "s1", None)],
    ),
    "deleted to the end": ([OPEN, gone(*copied("s0", 0), *deleted("s0"))], []),
    "newer than the snapshot": (
        [
            replace(OPEN, taken_at_ms=NOW_MS - 10),
            gone(*finished("s0", 0, 99, 5), *finished("s1", 100, 199, NOW_MS - 9)),
        ],
        [],
    ),
    "older than the snapshot": (
        [replace(OPEN, taken_at_ms=NOW_MS - 10), gone(*finished("s0", 0, 99, NOW_MS - 10))],
        [("ORPHANED", "s0", None)],
    ),
    "partition alone": (
        [OPEN, tiered("open", partition(), copied("s0", 0), index=7, is_told=False)],
        [],
    ),
}


def off(*events: Event, **more: Any) -> Tiered:
    return tiered("t", partition(config=Config(is_tiered=False)), events, **more)


ON_DISABLE = {"remote.log.delete.on.disable": "true"}
LEFT: dict[str, tuple[list[Tiered], Found]] = {
    "off": (
        [off(*copied("s0", 0), *FAILED)],
        [("LEFT_BEHIND", "a", None), ("LEFT_BEHIND", "s0", None)],
    ),
    "off, with a failed copy": (
        [off(*FAILED, *finished("b", 0, 99))],
        [("LEFT_BEHIND", "a", None), ("LEFT_BEHIND", "b", None)],
    ),
    "off and deleted": (
        [off(*MARKED, *copied("s1", 100), *deleted("s0"), configs=ON_DISABLE)],
        [("LEFT_BEHIND", "s1", None)],
    ),
    "off in moldau.yml": (
        [tiered("t", partition(), copied("s0", 0))],
        [("LEFT_BEHIND", "s0", None)],
    ),
    "not copied any more": (
        [tiered("t", partition(config=Config(is_copy_disabled=True)), copied("s0", 0))],
        [],
    ),
    "off, and on again": ([off(*copied("s0", 0))], []),
    "on, and off again": (
        [tiered("t", partition(), copied("s0", 0))],
        [("LEFT_BEHIND", "s0", None)],
    ),
    "off later": ([tiered("t", partition(), copied("s0", 0))], []),
    "told nothing": ([tiered("t", partition(), copied("s0", 0), is_told=False)], []),
    "off, and made anew": (
        [OLD, off(*copied("s3", 0))],
        [("ORPHANED", "s0", None), ("LEFT_BEHIND", "s3", None)],
    ),
}
STORIES = SUPERSEDED | ORPHANED | LEFT
CLUSTERS = {f"left {name}": topics for name, (topics, _) in STORIES.items()}
# configs that hold from the second instant on
LATER = {"off, and on again": (True, 9), "on, and off again": (False, 9)}
LATER |= {"off later": (False, NOW_MS + 1)}


@pytest.fixture(scope="module")
def found(session: Session) -> dict[str, list[dict[str, Any]]]:
    """The findings by story, with the names of segments."""
    settings = dict.fromkeys(CLUSTERS, "{}")
    settings["left off in moldau.yml"] = "{topics: {t: {remote.storage.enable: false}}}"
    session = with_clusters(session, settings)
    fold_tiers(session, CLUSTERS)
    for name, (is_tiered, from_ms) in LATER.items():
        later = tiered("t", partition(config=Config(is_tiered=is_tiered)), ())
        told = parquet_of(session, topic_configs([(f"left {name}", later)], from_ms))
        fold(session, [f"left {name}"], f"select * from {told}", "topic_configs")
    decide(session, "tiers", list(CLUSTERS), NOW_MS, is_dry_run=False)
    names = {None: None}
    for topics in CLUSTERS.values():
        for topic in topics:
            of_topic = ("a", "b", "c", "s0", "s1", "s2", "s3")
            names |= {topic.id_of(name): name for name in of_topic}
    stories: dict[str, list[dict[str, Any]]] = {name: [] for name in STORIES}
    columns = (
        "cluster_id", "finding", "segment_id", "other_segment_id", "topic_id", "size_bytes",
        "detail", "advice", "since_at_ms",
    )  # fmt: skip
    asked = f"select {', '.join(columns)} from marts.remote_segment_findings"
    for row in rows(session, f"{asked} where cluster_id like 'left %'", NOW_MS):
        told = dict(zip(columns, row, strict=True))
        told["segment_id"] = names[told["segment_id"]]
        told["other_segment_id"] = names[told["other_segment_id"]]
        stories[told["cluster_id"].removeprefix("left ")].append(told)
    return stories


@pytest.mark.parametrize("story", STORIES)
def test_what_is_left_has_its_name(found: dict[str, list[dict[str, Any]]], story: str) -> None:
    said = [(row["finding"], row["segment_id"], row["other_segment_id"]) for row in found[story]]
    assert sorted(said, key=lambda row: row[1]) == sorted(STORIES[story][1], key=lambda row: row[1])


def test_the_topic_id_the_bytes_and_what_to_do_are_told(
    found: dict[str, list[dict[str, Any]]],
) -> None:
    [orphaned] = found["made anew"]
    assert (orphaned["topic_id"], orphaned["size_bytes"]) == (OLD.topic_id, 100)
    assert orphaned["detail"] == f"the topic of this name has the id {NEW.topic_id}"
    assert "delete it in the object store" in orphaned["advice"]
    assert "no topic has this id" in found["topic deleted"][0]["detail"]
    assert "no topic has this id" in found["being deleted"][0]["detail"]
    [left] = found["on, and off again"]
    assert (left["size_bytes"], left["since_at_ms"]) == (100, 9)
    assert "remote.log.delete.on.disable is false" in left["detail"]
    assert "did not come so far" in found["off and deleted"][0]["detail"]
    assert found["off in moldau.yml"][0]["since_at_ms"] is None
    [superseded] = found["wider"]
    assert (superseded["size_bytes"], superseded["since_at_ms"]) == (80, 0)
    assert superseded["detail"] == "its offsets are in a finished segment of 150 bytes"
    assert "in 2 finished segments" in found["in two parts"][0]["detail"]
    assert "deleted or marked" in found["deleted since"][0]["detail"]
    assert "retention deletes it" in superseded["advice"]


def test_doctor_tells_bytes_and_topics_of_each(
    session: Session, found: dict[str, list[dict[str, Any]]]
) -> None:
    told = [one for one in examine(session.warehouse) if one.check == "object_store"]
    assert not any(one.is_fine for one in told)
    for story, finding, size in (
        ("made anew twice", "ORPHANED", 300),
        ("off", "LEFT_BEHIND", 200),
        ("several failed", "SUPERSEDED", 200),
    ):
        of_story = f"of cluster left {story} are {finding}, {size} bytes, of t (id "
        [line] = [one.message for one in told if of_story in one.message]
        assert found[story][0]["advice"] in line


@pytest.mark.parametrize(
    ("story", "subject", "told", "hidden"),
    [
        ("made anew", "tier t-0", [f"100 bytes, topic id {OLD.topic_id}: ORPHANED"], "s0"),
        ("made anew", f"delete t-0 {OLD.id_of('s0')}", ["leader unknown", ": ORPHANED"], "Upload"),
        ("made anew", f"delete t-0 {NEW.id_of('s3')}", ["led by broker 1"], "Left behind"),
        (
            "same range",
            "tier t-0",
            ["SUPERSEDED", f"segment ids: {NEW.id_of('a')}", f"superseded by: {NEW.id_of('b')}"],
            "ORPHANED",
        ),
        ("off", "tier t-0", ["0 to 99, 2 segments, 200 bytes, topic id", "LEFT_BEHIND"], "SUPER"),
    ],
)
def test_explain_says_what_is_left_and_what_to_do(
    session: Session,
    found: dict[str, list[dict[str, Any]]],
    story: str,
    subject: str,
    told: list[str],
    hidden: str,
) -> None:
    explained = explain_tier_subject(session.warehouse, subject, f"left {story}", NOW_MS)
    assert explained is not None
    said = "\n".join(tier_in_words(explained))
    assert all(text in said for text in told), said
    assert hidden not in said
    assert ("what to do: " in said) is (hidden != "Left behind")


def test_rows_for_programs_have_the_segments_of_the_topic_that_is_no_more(
    session: Session, found: dict[str, list[dict[str, Any]]]
) -> None:
    explained = explain_tier_subject(session.warehouse, "tier t-0", "left made anew", NOW_MS)
    assert explained is not None
    told = list(tier_rows(explained))
    findings = [(row["topic_id"], row["finding"]) for row in told if "delete" in row["subject"]]
    assert findings == [(NEW.topic_id, None), (OLD.topic_id, "ORPHANED")]
