"""The reference says what the specification's listed cases say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from kafka_deletes import deletes
from kafka_metadata import (
    COPY_FINISHED,
    COPY_STARTED,
    DELETE_FINISHED,
    DELETE_STARTED,
    Event,
    Metadata,
    Segment,
)
from kafka_reference import (
    KAFKA_4_4,
    Config,
    LocalSegment,
    Partition,
    RuleSet,
    copied_offset,
    filtered,
    from_bases,
    is_within,
    locally_deleted,
    log_start_on_becoming_leader,
)
from kafka_uploads import uploads
from listed_cases import (
    LEADER,
    NOW_MS,
    OTHER,
    Case,
    copies,
    copy,
    delete,
    filtered_copies,
    listed_cases,
    mark,
    start,
)
from tier_support import metadata_partition

UNDER_RULES = [(case, rules) for case in listed_cases() for rules in case.rules]


IDS = [f"{case.number} {rules.name}" for case, rules in UNDER_RULES]


@pytest.mark.parametrize(("case", "rules"), UNDER_RULES, ids=IDS)
def test_a_listed_case(case: Case, rules: RuleSet) -> None:
    up = uploads(case.partition, NOW_MS, rules)
    down = deletes(case.partition, NOW_MS, rules)
    said = {**up.columns(), **down.columns()}
    assert {name: said[name] for name in case.expected} == case.expected
    assert case.uploads is None or tuple(up.chosen()) == case.uploads
    assert case.deletes is None or down.chosen() == set(case.deletes)
    reasons = {name: down.decisions[name].reason for name in case.delete_reasons}
    assert reasons == case.delete_reasons
    reasons_up = {base: up.decisions[base].reason for base in case.upload_reasons}
    assert reasons_up == case.upload_reasons
    assert case.log_start_after in (None, down.log_start)
    assert case.copied_offset in (None, copied_offset(case.partition)[0])


def test_case_23_has_no_epoch() -> None:
    (case,) = [case for case in listed_cases() if case.number == "23"]
    assert copied_offset(case.partition) == (-1, -1)


def test_the_lag_falls_by_each_segments_span() -> None:
    (case,) = [case for case in listed_cases() if case.number == "1 after 0"]
    up = uploads(case.partition, NOW_MS, case.rules[0])
    steps = [(one.before, one.after) for one in up.decisions.values() if one.decision == "upload"]
    assert steps == [(1_000 - 100 * done, 900 - 100 * done) for done in range(10)]
    (case,) = [case for case in listed_cases() if case.number == "31 after 0"]
    down = deletes(case.partition, NOW_MS, case.rules[0])
    steps = [(down.decisions[name].before, down.decisions[name].after) for name in down.walked]
    assert steps == [(1_000 - 100 * done, 900 - 100 * done) for done in range(10)]


def test_case_52_in_the_order_of_kafkas_test() -> None:
    (case,) = filtered_copies()
    partition = case.partition
    order = ["s1", "s2", "s3", "s4", *map(str, range(11))]

    def listing(epoch: int) -> Sequence[Segment]:
        return [partition.metadata.segments[name] for name in order]

    for rules in case.rules:
        assert deletes(partition, NOW_MS, rules, listing).walked == ["s1", "s3"]
    events = [*delete("s1"), Event("s3", DELETE_FINISHED), Event("s4", COPY_FINISHED)]
    for event in events:
        assert partition.metadata.apply(event)
    for rules in case.rules:
        assert deletes(partition, NOW_MS, rules, listing).walked == ["s4", "0"]


def test_too_much_is_deleted_by_size_when_a_delete_failed() -> None:
    """Row 5 of the comparison with a broker of 4.4.0: the retry takes a segment more."""
    events = [*copies(5), *mark("0")]
    partition = Partition(
        metadata=Metadata(events),
        config=Config(retention_bytes=200),
        lineage={0: 300},
        local=from_bases([500], active=0),
        log_start=300,
        log_end=500,
    )
    found = deletes(partition, NOW_MS, KAFKA_4_4)
    assert [found.decisions[str(number)].reason for number in range(5)] == [
        "DELETE_STARTED",
        "LOG_START",
        "LOG_START",
        "RETENTION_SIZE",
        "RETENTION_SIZE",
    ]
    assert found.over_deleted == {"3", "4"}


LINEAGE_70 = {0: 0, 1: 250, 2: 550}


@pytest.mark.parametrize(
    ("events", "expected"),
    [([*copy("a", 500, 539, {1: 500}), *copy("b", 540, 700, {1: 540})], 500), ([], 620)],
    ids=["70", "70 none remote"],
)
def test_log_start_on_becoming_leader(events: list[Event], expected: int) -> None:
    partition = Partition(Metadata(events), lineage=LINEAGE_70, local_log_start=620)
    assert log_start_on_becoming_leader(partition) == expected


def test_case_71_epochs_without_records() -> None:
    epochs = {0: 0, 1: 0, 2: 0, 3: 30, 4: 40, 5: 60, 6: 60, 7: 70, 8: 70}
    assert filtered(epochs) == {2: 0, 3: 30, 4: 40, 6: 60, 8: 70}


@pytest.mark.parametrize("state_path", [(0, 3), (0, 1, 3), (0, 1, 0), (0, 2, 1), (0, 2, 0)])
def test_case_76_illegal_events_change_nothing(state_path: tuple[int, ...]) -> None:
    metadata = Metadata(events_of("a", state_path[:-1]))
    before = dict(metadata.segments)
    assert not metadata.apply(events_of("a", state_path)[-1])
    assert metadata.segments == before
    assert len(metadata.rejected) == 1


def events_of(name: str, states: Sequence[int]) -> list[Event]:
    """Records with these states; state 0 comes in a full record."""
    segment = Segment(name, 0, 99, {0: 0})
    return [Event(name, state, copy=segment if state == COPY_STARTED else None) for state in states]


@pytest.mark.parametrize("state", [COPY_FINISHED, DELETE_STARTED, DELETE_FINISHED])
def test_an_event_of_an_unknown_segment_is_dropped(state: int) -> None:
    metadata = Metadata(events_of("a", [state]))
    assert not metadata.segments
    assert [before for _, before in metadata.rejected] == [None]


def test_only_a_full_record_starts_a_copy_and_it_can_do_nothing_else() -> None:
    segment = Segment("a", 0, 99, {0: 0})
    assert not Metadata().apply(Event("a", COPY_STARTED))
    metadata = Metadata(events_of("a", [COPY_STARTED]))
    assert not metadata.apply(Event("a", COPY_STARTED))
    assert not metadata.apply(Event("a", COPY_FINISHED, copy=segment))


def test_case_77_a_whole_life() -> None:
    metadata = Metadata(events_of("a", [0, 1, 2, 3]))
    assert metadata.accepted == 4
    assert not metadata.listing(0)
    assert not metadata.live()
    assert metadata.highest(0) == 99


FOUR_SEGMENTS = [
    *copy("0", 0, 100, {0: 0, 1: 20, 2: 80}),
    *copy("1", 101, 200, {2: 101}),
    *copy("2", 201, 300, {2: 201, 3: 240}),
    *copy("3", 250, 400, {3: 250, 4: 370}),
]


@pytest.mark.parametrize(
    ("epoch", "offset", "expected"),
    [
        (1, 40, "0"),
        (2, 110, "1"),
        (3, 240, "2"),
        (3, 250, "3"),
        (4, 375, "3"),
        (1, 110, None),
        (4, 401, None),
        (5, 301, None),
    ],
)
def test_case_79_lookups(epoch: int, offset: int, expected: str | None) -> None:
    found = Metadata(FOUR_SEGMENTS).find(epoch, offset)
    assert (found and found.segment_id) == expected


def test_case_80_overlapping_segments() -> None:
    offsets = [(10, 100), (5, 150), (148, 155), (4, 200)]
    metadata = Metadata(
        event
        for number, (first, last) in enumerate(offsets)
        for event in copy(str(number), first, last, {0: first})
    )
    index = metadata.epochs[0]
    assert index.indexed == {4: "3"}
    assert index.unreferenced == {"0", "1", "2"}
    assert index.highest == 200
    assert [one.segment_id for one in metadata.listing(0)] == ["3", "1", "0", "2"]


def test_case_82_an_overwritten_segment_is_an_orphan() -> None:
    events = [*copy("old", 100, 199), *copy("new", 100, 179, {0: 100, 1: 150})]
    metadata = Metadata(events)
    assert [one.segment_id for one in metadata.listing(0)] == ["new"]
    assert metadata.orphans() == {"old"}
    assert {one.segment_id for one in metadata.live()} == {"old", "new"}
    metadata.apply(Event("old", DELETE_STARTED))
    assert metadata.orphans() == set()


def test_case_95_a_replay() -> None:
    metadata = Metadata()
    accepted = [metadata.apply(event) for event in events_of("a", [0, 1, 1, 2, 3, 2])]
    assert accepted == [True, True, True, True, True, False]
    assert metadata.segments["a"].state == DELETE_FINISHED


def test_case_88_local_segments_that_are_copied_are_deleted() -> None:
    partition = Partition(
        Metadata(copy("a", 0, 30)),
        Config(local_retention_bytes=1),
        local=from_bases([0, 11, 21, 31, 41]),
        high_watermark=50,
        log_end=50,
    )
    assert locally_deleted(partition, NOW_MS) == [0, 11, 21]


@pytest.mark.parametrize(("log_start", "expected"), [(3, []), (4, [0])])
def test_case_89_below_the_log_start_nothing_needs_a_copy(
    log_start: int, expected: list[int]
) -> None:
    partition = Partition(
        local=from_bases([0, 4]),
        log_start=log_start,
        local_log_start=log_start,
        high_watermark=8,
        log_end=8,
    )
    assert locally_deleted(partition, NOW_MS) == expected


def test_local_retention_takes_the_total_one_and_is_strict() -> None:
    local = (LocalSegment(0, 100, NOW_MS - 1_000), LocalSegment(100, 100, NOW_MS))
    partition = Partition(Metadata(copies(1)), Config(retention_ms=1_000), local=local, log_end=110)
    partition.high_watermark = 110
    assert locally_deleted(partition, NOW_MS) == []
    assert locally_deleted(partition, NOW_MS + 1) == [0]


def test_a_copy_of_another_broker_is_not_in_flight() -> None:
    for broker, expected in ((LEADER, 100), (OTHER, 0)):
        partition = Partition(
            Metadata(start("a", 0, 99, broker=broker)),
            local=from_bases([0, 100]),
            last_stable=110,
            log_end=110,
        )
        found = uploads(partition, NOW_MS, KAFKA_4_4)
        assert (found.lag, found.in_flight, found.lag_issued) == (100, expected, 100 - expected)


def test_within_needs_an_epoch_of_the_leader() -> None:
    segment = Segment("a", 0, 99, {1: 0, 3: 50})
    assert is_within(segment, {3: 50}, 200)
    assert not is_within(segment, {2: 0, 4: 50}, 200)
    assert not is_within(segment, {2: 0, 3: 50, 4: 99}, 200)
    assert not is_within(segment, {}, 200)


@pytest.mark.parametrize(("index", "expected"), [(0, 5), (1, 31), (2, 16), (3, 49)])
def test_case_94_where_the_events_of_a_partition_are(index: int, expected: int) -> None:
    topic_id = bytes.fromhex("00112233445566778899aabbccddeeff")
    assert metadata_partition(topic_id, index) == expected
