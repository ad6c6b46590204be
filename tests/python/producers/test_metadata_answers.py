"""What a round leaves behind under moldau's authority: its evictions, and the answer it stands for.

Also what came between its decision and its application, and what a killed run leaves to the next.
"""

from __future__ import annotations

import pytest
from metadata_reference import Producer, Rules, Topic
from producer_support import (
    Event,
    decide_rounds,
    load_events,
    load_topics,
    rounds_of,
    topics_of,
    with_producers,
)
from spark_support import change, contents, dying_at, fresh, writes

from moldau.runs import stages
from moldau.runs.decide import decide
from moldau.runs.resume import finish_interrupted
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.warehouse.contracts import tables

NOW_MS = 1_760_000_000_000
OLD_MS = NOW_MS - 300_000
IN_CHARGE = "{authority: moldau}"
HIDDEN = ["run_id", "changed_in_run_id", "settings_hash"]
# traces of the specification: topics that are fetched at 0; by instant, when each was used next
COUNTS = {"E1": 19, "E2": 20, "E4": 1, "E5": 20, "E7": 20}
INSTANTS = (0, 1_000, 139_000, 140_000, 149_000, 150_000, 299_000, 300_000, 301_000, 449_000,
            450_000, 599_000, 600_000)  # fmt: skip
USED = {
    0: {"E1": 299_000, "E2": 149_000},
    150_000: {"E2": 299_000},
    300_000: {"E1": 599_000, "E2": 449_000},
    450_000: {"E2": 599_000},
}


def in_charge(session: Session, *clusters: str) -> Session:
    return with_producers(session, {}, dict.fromkeys(clusters, IN_CHARGE))


def several(prefix: str, now_ms: int = NOW_MS) -> dict[str, Producer]:
    """One topic of each fate, twice over."""
    old_ms = now_ms - 300_000
    topics = {
        "idle": Topic(old_ms, now_ms - 10),
        "idle and wanted": Topic(old_ms, now_ms - 10, True),
        "new": Topic(now_ms - 10, None, True),
        "stale": Topic(now_ms - 10, old_ms),
        "told of": Topic(now_ms - 10, now_ms - 10, False, now_ms - 5),
        "aging": Topic(now_ms - 10, now_ms - 200_000),
        "fresh": Topic(now_ms - 10, now_ms - 10),
        "unwanted": Topic(now_ms - 10),
    }
    return {f"{prefix} one": Producer(topics), f"{prefix} two": Producer(topics)}


def test_the_answer_of_a_round_is_stored(session: Session) -> None:
    cluster = "producers answered"
    found = decide_rounds(
        in_charge(session, cluster), cluster, several("answered"), NOW_MS, is_dry_run=False
    )
    assert found["answered one"].decisions == {
        "idle": "evict", "idle and wanted": "evict_and_fetch", "new": "fetch", "stale": "fetch",
        "told of": "fetch", "aging": "fetch", "fresh": "keep", "unwanted": "keep",
    }  # fmt: skip
    left = topics_of(session, cluster)["answered one"]
    assert "idle" not in left
    asked = {"idle and wanted", "new", "stale", "told of", "aging"}
    assert {name for name, row in left.items() if row["last_refresh_at_ms"] == NOW_MS} == asked
    assert not any(row["has_demand"] or row["notified_at_ms"] for row in left.values())
    accessed = {name for name, row in left.items() if row["last_access_at_ms"] == NOW_MS}
    assert accessed == {"idle and wanted", "new"}, "what was fetched because of demand"


def test_a_round_writes_six_times(session: Session) -> None:
    """However many producers there are; one that finds nothing due writes its row."""
    cluster = "producers that cost"
    ours = in_charge(session, cluster)
    load_topics(ours, cluster, several("costs"))
    told = writes(ours, "metadata", cluster, NOW_MS)
    assert told == dict.fromkeys(
        ["decisions.metadata_topics", "decisions.metadata_rounds", "history.decision_changes",
         "state.producer_topics", "state.producers", "state.runs"], 1,
    )  # fmt: skip
    decide(ours, "metadata", [cluster], NOW_MS + 1, is_dry_run=False)
    assert writes(ours, "metadata", cluster, NOW_MS + 2) == {"state.runs": 1}


def test_a_broker_in_charge_applies_nothing(session: Session) -> None:
    cluster = "producers predicted"
    told = several("predicted")
    found = decide_rounds(with_producers(session, {}), cluster, told, NOW_MS, is_dry_run=False)
    assert found["predicted one"].decisions["idle"] == "evict"
    assert set(topics_of(session, cluster)["predicted one"]) == set(told["predicted one"].topics)
    assert topics_of(session, cluster)["predicted one"]["new"]["last_refresh_at_ms"] is None


def write_before_applying(monkeypatch: pytest.MonkeyPatch, update: str) -> None:
    """Another writer, when the round is decided and not applied yet."""
    plain = stages.apply

    def late(session: Session, run: Run) -> None:
        change(session, f"update state.producer_topics {update}")
        plain(session, run)

    monkeypatch.setattr(stages, "apply", late)


@pytest.mark.parametrize(
    ("notice_at", "left"),
    [(NOW_MS - 1, None), (NOW_MS, None), (NOW_MS + 1, NOW_MS + 1)],
)
def test_a_notice_after_the_request_left_survives(
    session: Session, monkeypatch: pytest.MonkeyPatch, notice_at: int, left: int | None
) -> None:
    """Another writer tells of it when the round is decided, and not applied yet."""
    cluster = f"producers noticed {notice_at - NOW_MS}"
    ours = in_charge(session, cluster)
    name = f"noticed {notice_at - NOW_MS}"
    load_topics(ours, cluster, {name: Producer({"x": Topic(NOW_MS - 9, OLD_MS)})})
    values = f"notice_at_ms = {notice_at}, notified_at_ms = {notice_at}"
    write_before_applying(monkeypatch, f"set {values} where cluster_id = '{cluster}'")
    decide(ours, "metadata", [cluster], NOW_MS, is_dry_run=False)
    row = topics_of(session, cluster)[name]["x"]
    assert (row["last_refresh_at_ms"], row["notified_at_ms"]) == (NOW_MS, left)


def test_an_access_after_the_decision_keeps_the_topic(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = "producers accessed"
    ours = in_charge(session, cluster)
    idle = {"x": Topic(OLD_MS, NOW_MS - 10), "y": Topic(OLD_MS, NOW_MS - 10)}
    load_topics(ours, cluster, {"accessed": Producer(idle)})
    values = f"access_at_ms = {NOW_MS - 1}, last_access_at_ms = {NOW_MS - 1}"
    where = f"cluster_id = '{cluster}' and topic_name = 'x'"
    write_before_applying(monkeypatch, f"set {values} where {where}")
    decide(ours, "metadata", [cluster], NOW_MS, is_dry_run=False)
    [(topic, row)] = topics_of(session, cluster)["accessed"].items()
    assert (topic, row["last_refresh_at_ms"]) == ("x", NOW_MS - 10)


def test_events_of_before_an_eviction_bring_nothing_back(session: Session) -> None:
    cluster = "producers forgotten"
    ours = in_charge(session, cluster)
    failed = [Event("forgotten", "request_failed", NOW_MS - 1)]
    idle = {"x": Topic(OLD_MS, NOW_MS - 10, True)}
    load_topics(ours, cluster, {"forgotten": Producer(idle)})
    load_events(ours, cluster, failed)
    decide(ours, "metadata", [cluster], NOW_MS, is_dry_run=False)
    row = topics_of(session, cluster)["forgotten"]["x"]
    assert (row["last_refresh_at_ms"], row["has_demand"]) == (None, True), "it waits: never dropped"
    late = [Event("forgotten", kind, NOW_MS - 2, "x") for kind in ("refreshed", "notice")]
    load_events(ours, cluster, late)
    assert topics_of(session, cluster)["forgotten"]["x"] == row
    decide(ours, "metadata", [cluster], NOW_MS + 100, is_dry_run=False)
    assert topics_of(session, cluster)["forgotten"]["x"]["last_refresh_at_ms"] == NOW_MS + 100


def test_a_pace_counts_from_the_last_request_that_was_not_urgent(session: Session) -> None:
    cluster = "producers paced"
    ours = with_producers(session, {}, {cluster: IN_CHARGE})
    ours.settings.sections["producers"]["paced"] = type(
        ours.settings.entry("producers", "paced")
    ).model_validate({"ruleset": "paced"})
    topics = {f"a{number:02}": Topic(NOW_MS, NOW_MS - 200_000) for number in range(45)}
    load_topics(ours, cluster, {"paced": Producer(topics)})
    fetched = []
    for at in (0, 1, 9_999, 10_000, 20_000):
        decide(ours, "metadata", [cluster], NOW_MS + at, is_dry_run=False)
        found = rounds_of(session, cluster)["paced"]
        fetched.append(len(found.fetched))
        if not found.fetched and at < 10_000:
            assert set(found.reasons.values()) == {"FRESH", "PACED"}
    assert fetched == [20, 0, 0, 20, 0], "20, and 20 more after 10 s; 5 make no batch"


@pytest.mark.parametrize("point", ["after_decide", "before_clear", "after_clear", "before_run_row"])
def test_a_killed_run_ends_like_one_that_was_not(session: Session, point: str) -> None:
    killed, calm = f"producers killed {point}", f"producers calm {point}"
    ours = in_charge(session, killed, calm)
    told = several(f"killed {point}")
    for cluster in (killed, calm):
        load_topics(ours, cluster, told)
    decide(ours, "metadata", [calm], NOW_MS, is_dry_run=False)
    with dying_at(point):
        decide(ours, "metadata", [killed], NOW_MS, is_dry_run=False)
    finish_interrupted(fresh(ours))
    for table in ("state.producer_topics", "state.producers", "decisions.metadata_topics",
                  "decisions.metadata_rounds", "history.decision_changes"):  # fmt: skip
        hidden = [name for name in HIDDEN if name in _columns(table)]
        found = contents(session, table, hidden, f"cluster_id in ('{killed}', '{calm}')")
        assert found[killed] == found[calm], table


def _columns(table: str) -> list[str]:
    return [column.name for column in tables()[table].columns]


@pytest.fixture(scope="module")
def traced(session: Session) -> dict[str, dict[int, tuple[int, int]]]:
    """How many topics each round fetches and forgets, where it does: by producer and instant.

    A round is decided for all producers, also where a story of the specification has none.
    """
    topics = {name: [f"a{number:03}" for number in range(count)] for name, count in COUNTS.items()}
    evicts = {name: 140_000 if name == "E7" else 300_000 for name in [*COUNTS, "E8"]}
    rules = {name: Rules(evict_ms=told, idle_ms=told) for name, told in evicts.items()}
    clusters = (used, waiting) = "producers traced", "producers that wait"
    ours = with_producers(session, rules, dict.fromkeys(clusters, IN_CHARGE))
    fetched = Topic(NOW_MS, NOW_MS)
    load_topics(
        ours, used, {name: Producer(dict.fromkeys(told, fetched)) for name, told in topics.items()}
    )
    batch = Topic(NOW_MS - 300_000, NOW_MS - 100_000, True)
    found: dict[str, dict[int, tuple[int, int]]] = {name: {} for name in evicts}
    load_topics(ours, waiting, {"E8": Producer({"x": batch})})
    for at in INSTANTS:
        decide(ours, "metadata", clusters, NOW_MS + at, is_dry_run=False)
        for name, told in (rounds_of(session, used) | rounds_of(session, waiting)).items():
            if told.fetched or told.evicted:
                found[name][at] = (len(told.fetched), len(told.evicted))
        if at in found["E8"]:
            # the batch is still there: as old as it was, it is no access
            row = topics_of(session, waiting)["E8"]["x"]
            batch = Topic(row["last_access_at_ms"], row["last_refresh_at_ms"], True)
            load_topics(ours, waiting, {"E8": Producer({"x": batch})})
        accesses = [
            Event(name, "access", NOW_MS + used_at, topic)
            for name, used_at in USED.get(at, {}).items()
            for topic in topics[name]
        ]
        if accesses:
            load_events(ours, used, accesses)
    left = topics_of(session, used)
    assert left.keys() == {"E1", "E2"}, "nothing is known of what is forgotten"
    return found


@pytest.mark.parametrize(
    ("name", "busy"),
    {
        # nineteen active topics go when they are stale, twenty at half their age
        "E1": {300_000: (19, 0), 600_000: (19, 0)},
        "E2": {150_000: (20, 0), 300_000: (20, 0), 450_000: (20, 0), 600_000: (20, 0)},
        # what is never accessed again dies unrefreshed; twenty are fetched in vain before
        "E4": {300_000: (0, 1)},
        "E5": {150_000: (20, 0), 300_000: (0, 20)},
        # or die before they are half as old
        "E7": {140_000: (0, 20)},
        # demand that never drains is fetched once in its idle time
        "E8": {0: (1, 1), 300_000: (1, 1), 600_000: (1, 1)},
    }.items(),
)
def test_a_trace_of_the_specification(
    traced: dict[str, dict[int, tuple[int, int]]],
    name: str,
    busy: dict[int, tuple[int, int]],
) -> None:
    """All other rounds fetch and forget nothing."""
    assert traced[name] == busy
