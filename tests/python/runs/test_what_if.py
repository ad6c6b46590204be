"""`moldau what-if` of each domain: what a run under these settings decides, and no trace of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from spark_support import ROOT, rows

from moldau.declared import domains
from moldau.errors import MoldauError
from moldau.instants import parse_instant
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.runs.otherwise import decide_otherwise
from moldau.sessions.session import Session
from moldau.settings import Settings, load_settings

SAMPLES = ROOT / "samples"
GROUPS_AT = parse_instant("2026-11-26T00:00:00Z")
MIRRORS_AT = parse_instant("2025-09-01T13:00:01Z")
PRODUCERS_AT = parse_instant("2026-11-27T09:13:54Z")
FLOWS = (
    "flows: {plain: {source: a, target: west, ruleset: sparse_reads_checkpoints, topics: orders}}"
)


def settings_of(folder: Path, config: str) -> Settings:
    (folder / "moldau.yml").write_text(config)
    return load_settings(folder / "moldau.yml", folder / "warehouse")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A warehouse with groups of `east`, a flow from `a`, and producers of `logged`."""
    settings = settings_of(tmp_path_factory.mktemp("what-if"), FLOWS)
    with open_session(settings, "pytest") as session:
        load(session, [SAMPLES / "east" / "__consumer_offsets.jsonl"], "east", "records")
        mirrored = [SAMPLES / "mirrors" / f"{name}.1.jsonl" for name in ("syncs", "commits")]
        load(session, mirrored, "a", "records")
        events = SAMPLES / "producers" / "producer_events.jsonl"
        load(session, [events], "logged", "producer_events")
        yield session


def asked(session: Session, domain: str, at_ms: int, by: str, **others: Any) -> list[list[Any]]:
    [found] = [one for one in domains() if one.name == domain]
    changes, ruleset = others.get("changes", {}), others.get("ruleset")
    clusters = others.get("clusters", ())
    return decide_otherwise(session.settings, found, changes, ruleset, clusters, at_ms, by)[1]


DECIDED = {
    "groups": (
        GROUPS_AT, "subject", ["sweep", "cycle"],
        "select cluster_id, 'sweep ' || group_id, decision, reason_code "
        "from decisions.group_sweeps where cluster_id = 'east' union all "
        "select cluster_id, concat('offset ', group_id, ' ', topic_name, '-', partition_index), "
        "decision, reason_code from decisions.offset_expirations where cluster_id = 'east' "
        "union all select cluster_id, 'cleanup ' || group_id, decision, reason_code "
        "from decisions.cleanup_eligibility where cluster_id = 'east'",
        {"offsets.retention.minutes": "1440"}, "kafka_4_4",
        "clusters: {east: {ruleset: {groups: kafka_4_4}, offsets.retention.minutes: 1440}}",
    ),
    "mirrors": (
        MIRRORS_AT, "partition", ["translate"],
        "select flow, group_id, topic_name, partition_index, translated_offset, decision, "
        "reason_code from decisions.offset_translations",
        {"anchored": "true"}, "full_history",
        "flows: {plain: {source: a, target: west, ruleset: full_history, topics: orders, "
        "anchored: true}}",
    ),
    "producers": (
        PRODUCERS_AT, "topic", ["metadata"],
        "select cluster_id, producer_id, topic_name, decision, reason_code "
        "from decisions.metadata_topics",
        {"metadata.evict.ms": "8000", "metadata.max.age.ms": "10000"}, "kafka_2_5",
        "producers: {default: {ruleset: kafka_2_5, metadata.evict.ms: 8000, "
        "metadata.max.age.ms: 10000}}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("domain", DECIDED)
def test_what_would_be_is_what_a_run_under_these_settings_decides(
    here: Session, domain: str
) -> None:
    at_ms, by, kinds, question, changes, ruleset, config = DECIDED[domain]
    clusters = {"groups": ["east"], "mirrors": ["a"], "producers": ["logged"]}[domain]
    told = asked(here, domain, at_ms, by, changes=changes, ruleset=ruleset, clusters=clusters)

    def decided(session: Session) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        for kind in kinds:
            decide(session, kind, clusters, at_ms, is_dry_run=True)
        keys = {"groups": 2, "mirrors": 4, "producers": 3}[domain]
        return {row[:keys]: row[keys:] for row in map(tuple, rows(session, question))}

    now = decided(here)
    others = settings_of(here.warehouse.parent, config)
    then = decided(dataclasses.replace(here, settings=others))
    size = len(next(iter(now.values())))
    nothing = (None,) * size
    differing = [
        [*key, *(value for both in zip(was, would_be, strict=True) for value in both)]
        for key in sorted(now.keys() | then.keys())
        if (was := now.get(key, nothing)) != (would_be := then.get(key, nothing))
    ]
    assert told == differing
    assert told


def test_nothing_is_written(here: Session) -> None:
    def files() -> set[tuple[str, int]]:
        found = here.warehouse.rglob("*")
        return {(str(path), path.stat().st_size) for path in found if path.is_file()}

    before = files()
    changes = {"offsets.retention.minutes": "1440"}
    assert asked(here, "groups", GROUPS_AT, "group", changes=changes)
    assert files() == before


def test_totals_of_a_group_count_its_offsets(here: Session) -> None:
    changes, clusters = {"offsets.retention.minutes": "1440"}, ["east"]
    totals = asked(here, "groups", GROUPS_AT, "group", changes=changes, clusters=clusters)
    [classic] = [row for row in totals if row[1] == "g-classic"]
    assert classic[2:6] == [0, 5, 5, 0]  # expire, kept: now and then
    assert classic[6:8] == ["keep", "tombstone"]
    subjects = asked(here, "groups", GROUPS_AT, "subject", changes=changes, clusters=clusters)
    gone = sum(row[1].startswith("offset ") and row[3] == "expire" for row in subjects)
    assert gone == sum(row[3] for row in totals)
    longer = asked(
        here, "groups", GROUPS_AT, "group", changes={"offsets.retention.minutes": "20160"}
    )
    assert longer == []


WRONG = {
    "unknown key ofsets": ("groups", {"ofsets.retention.minutes": "1"}, None, ()),
    "'soon' is not allowed; allowed is a whole number": (
        "groups", {"offsets.retention.minutes": "soon"}, None, (),
    ),
    "rule set 'kafka_9'|kafka_9": ("groups", {}, "kafka_9", ()),
    "cluster 'north' is not known": ("groups", {"offsets.retention.minutes": "1"}, None, ["north"]),
    "only another moldau.yml can": ("mirrors", {"target": "north"}, None, ()),
    "no entry of `flows:` that is in scope": ("mirrors", {"anchored": "true"}, None, ["east"]),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_asked_is_refused(here: Session, message: str) -> None:
    domain, changes, ruleset, clusters = WRONG[message]
    with pytest.raises(MoldauError, match=message):
        by = {"groups": "group", "mirrors": "group"}[domain]
        asked(here, domain, GROUPS_AT, by, changes=changes, ruleset=ruleset, clusters=clusters)


def test_a_pattern_of_java_alone_is_not_for_duckdb(here: Session) -> None:
    embedded = here.settings.model_copy(update={"engine": "duckdb"})
    session = dataclasses.replace(here, settings=embedded)
    with pytest.raises(MoldauError, match=r"flows\.plain a pattern that only Spark reads"):
        asked(session, "mirrors", MIRRORS_AT, "group", changes={"topics": "(?i)orders"})
