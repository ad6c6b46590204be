"""moldau says what the specification's listed cases say: all in one warehouse, and in one run."""

from __future__ import annotations

import pytest
from listed_mirror_cases import (
    DENIED,
    LIVE,
    READABLE,
    READING,
    RENAMED_CASES,
    RULE_SETS,
    Answer,
    FilterCase,
    MirrorCase,
    Variant,
    latest_sync_cases,
    listed_cases,
)
from mirror_maker import Sync
from mirror_support import (
    CheckpointRecord,
    CommitRecord,
    Key,
    SyncRecord,
    TaskStart,
    Translated,
    commit_records,
    flow_settings,
    fold_checkpoints,
    fold_starts,
    fold_syncs,
    translations,
    with_flows,
)
from spark_support import fold_records

from moldau.reading.explain.mirrors import explain_translation
from moldau.reading.explain.mirrors_words import translation_in_words
from moldau.reading.explain.probe import translate_probes
from moldau.runs.decide import decide
from moldau.sessions.session import Session

SOURCE, TARGET = "source1", "target2"
CASES = [*listed_cases(), *latest_sync_cases()]
ASKED = [(case, *asked) for case in CASES for asked in case.asked()]
ANSWERS = [(case, position, variant, answer) for case, position, _, variant, answer in ASKED]
IDS = [f"{case.number} {question.g} {variant.flow}" for case, _, question, variant, _ in ASKED]
VARIANTS = sorted({variant for *_, variant, _ in ASKED})
STARTED_MS, COMMITTED_MS, NOW_MS = 500_000, 1_000_000, 2_000_000
FILTERED = FilterCase()


def sync_records() -> list[SyncRecord]:
    """What was there when the tasks started, of all cases, and then the rest."""
    placed = [
        *((case.topic, pair, 0) for case in CASES for pair in case.loaded),
        *((topic, pair, index) for topic, index, pair in renamed()),
        *((case.topic, pair, 0) for case in CASES for pair in case.later),
    ]
    return [
        SyncRecord(topic, Sync(*pair, log_offset, log_offset), index)
        for log_offset, (topic, pair, index) in enumerate(placed)
    ]


def renamed() -> list[tuple[str, int, tuple[int, int]]]:
    return list(dict.fromkeys((topic, index, pair) for topic, index, pair, *_ in RENAMED_CASES))


SYNCS = sync_records()
AT_START = sum(len(case.loaded) for case in CASES)


def commits() -> list[CommitRecord]:
    found = []
    for case in CASES:
        at_ms = [one.sync.at_ms for one in SYNCS if one.topic == case.topic]
        for position, question in enumerate(case.questions):
            before = question.was_committed_before
            committed_ms = COMMITTED_MS if before is None else at_ms[before] - 1
            group = case.group(position)
            found.append(CommitRecord(group, case.topic, question.g or 0, committed_ms))
            if question.g is None:
                found.append(CommitRecord(group, case.topic, None, committed_ms))
    named = [
        CommitRecord(group, topic, g, COMMITTED_MS, index)
        for topic, index, _, group, g, _, _ in RENAMED_CASES
    ]
    filtered = [
        CommitRecord(group, topic, 0, COMMITTED_MS)
        for group, topics in FILTERED.offsets.items()
        for topic in topics
    ]
    return [*found, *named, *filtered]


def checkpoints() -> list[CheckpointRecord]:
    return [
        CheckpointRecord(case.group(position), f"{SOURCE}.{case.topic}", *question.last, STARTED_MS)
        for case in CASES
        for position, question in enumerate(case.questions)
        if question.last
    ]


def flows() -> dict[str, str]:
    found = {
        one.flow: flow_settings(
            SOURCE,
            TARGET,
            one.ruleset,
            anchored=one.is_anchored,
            clamp_first=one.clamps_first,
        )
        for one in VARIANTS
    }
    filters = {"topics": FILTERED.topics, "groups.exclude": FILTERED.excluded_groups}
    return found | {"filtered": flow_settings(SOURCE, TARGET, "full_history", **filters)}


def starts() -> list[TaskStart]:
    end = {READABLE: AT_START, DENIED: AT_START, READING: len(SYNCS) + 1}
    return [
        TaskStart(SOURCE, one.flow, STARTED_MS, end[one.start], one.start != DENIED)
        for one in VARIANTS
        if one.start != LIVE
    ]


@pytest.fixture(scope="module")
def configured(session: Session) -> Session:
    return with_flows(session, flows())


@pytest.fixture(scope="module")
def decided(session: Session, configured: Session) -> dict[Key, Translated]:
    fold_syncs(configured, {(SOURCE, TARGET): SYNCS})
    fold_starts(configured, starts())
    fold_checkpoints(configured, {(SOURCE, TARGET): checkpoints()})
    fold_records(configured, {SOURCE: commit_records(commits())})
    decide(configured, "translate", [SOURCE], NOW_MS, is_dry_run=False)
    return translations(session, SOURCE)


@pytest.mark.parametrize(("case", "position", "variant", "expected"), ANSWERS, ids=IDS)
def test_a_listed_case(
    decided: dict[Key, Translated],
    case: MirrorCase,
    position: int,
    variant: Variant,
    expected: Answer,
) -> None:
    found = decided[variant.flow, case.group(position), case.topic]
    assert found.translated_offset == expected.offset
    assert expected.reason in (None, found.reason_code)
    if expected.has_bounds:
        assert (found.lower_bound, found.upper_bound, found.reread_max) == (
            expected.lower,
            expected.upper,
            expected.reread_max,
        )


@pytest.mark.parametrize("case", RENAMED_CASES, ids=[case[3] for case in RENAMED_CASES])
def test_125_topics_are_renamed(
    decided: dict[Key, Translated], case: tuple[str, int, tuple[int, int], str, int, str, int]
) -> None:
    topic, index, _, group, g, target, offset = case
    for ruleset in ("full_history", "sparse_reads_checkpoints"):
        found = decided[f"{ruleset}-{LIVE}", group, topic]
        assert (found.target_topic_name, found.partition_index) == (target, index)
        assert (found.upstream_offset, found.translated_offset) == (g, offset)


def test_127_filters(decided: dict[Key, Translated]) -> None:
    found = {
        (group, topic): one.reason_code
        for (flow, group, topic), one in decided.items()
        if flow == "filtered" and group in FILTERED.offsets
    }
    assert found == {**FILTERED.reasons} | dict.fromkeys(FILTERED.translated, "NO_SYNC")


def test_every_candidate_has_one_reason(decided: dict[Key, Translated]) -> None:
    """I9: `translations` finds no key twice; here, that none is missing."""
    candidates = {(one.group, one.topic) for one in commits()}
    for flow in flows():
        assert candidates <= {(group, topic) for of, group, topic in decided if of == flow}


def test_every_reason_is_explained_under_every_rule_set(
    session: Session, decided: dict[Key, Translated]
) -> None:
    ruleset_of = {one.flow: one.ruleset for one in VARIANTS} | {"filtered": "full_history"}
    asked = {(ruleset_of[key[0]], one.reason_code): key for key, one in decided.items()}
    assert {ruleset for ruleset, _ in asked} == set(RULE_SETS)
    for (ruleset, reason), key in asked.items():
        flow, group, topic = key
        one = decided[key]
        subject = f"translation {group} {topic}-{one.partition_index} of {flow}"
        found = explain_translation(session.warehouse, subject, None)
        assert found
        first, second, *more = translation_in_words(found)
        assert first == f"{subject}, {SOURCE} to {TARGET}"
        assert second.startswith(f"  {one.decision} ({reason}): ") and found.reason_text in second
        assert f"under {ruleset} in run {one.run_id}" in more[-1]
        assert more[-2].startswith("  next: ") and "None" not in "".join(more), more
        proof = one.sync_log_offset is not None
        assert proof == any(" says the sync at offset " in line for line in more), more


def test_a_probe_is_answered_as_a_commit_is(
    configured: Session, decided: dict[Key, Translated]
) -> None:
    """In each flow at once, by the same SQL in the other engine, where no older commit is asked."""
    plain = [
        (f"{case.topic}-0:{question.g}", case.group(position), case.topic)
        for case in CASES
        for position, question in enumerate(case.questions)
        if question.g is not None and question.was_committed_before is None
    ]
    rows = translate_probes(configured.settings, [probe for probe, *_ in plain], [], NOW_MS)
    answers = {
        (row["flow"], f"{row['topic_name']}-{row['partition_index']}:{row['upstream_offset']}"): row
        for row in rows
    }
    for flow in (one.flow for one in VARIANTS):
        for probe, group, topic in plain:
            answer, one = answers[flow, probe], decided[flow, group, topic]
            assert [
                answer[name]
                for name in ("translated_offset", "lower_bound", "upper_bound", "sync_log_offset")
            ] == [one.translated_offset, one.lower_bound, one.upper_bound, one.sync_log_offset]
