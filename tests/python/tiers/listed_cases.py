"""The listed cases of the specification: one partition each, and what must be said of it.

Case numbers are those of its section 5; a step of a sequence is a case of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

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
    KIP_963_DRAFT,
    RULE_SETS,
    Config,
    LocalSegment,
    Partition,
    RuleSet,
    from_bases,
)

NOW_MS = 1_000_000
LEADER, OTHER = 1, 2
EXPIRED_MS, FRESH_MS = NOW_MS - 5_000, NOW_MS
EXPIRES = Config(retention_ms=1_000)
EXPIRES_ALL = Config(retention_ms=0)


@dataclass(frozen=True)
class Case:
    """`expected`: columns of marts.tier_lag; `uploads`: base offsets; `deletes`: segment names.

    Reasons are those of single segments: by base offset for uploads, by name for deletes.
    """

    number: str
    partition: Partition
    events: tuple[Event, ...] = ()
    rules: tuple[RuleSet, ...] = RULE_SETS
    expected: Mapping[str, int | None] = field(default_factory=dict)
    uploads: tuple[int, ...] | None = None
    deletes: tuple[str, ...] | None = None
    upload_reasons: Mapping[int, str] = field(default_factory=dict)
    delete_reasons: Mapping[str, str] = field(default_factory=dict)
    log_start_after: int | None = None
    copied_offset: int | None = None


def make_case(
    number: str,
    *events: Iterable[Event],
    local: tuple[LocalSegment, ...] = (),
    end: int | None = None,
    stable: int | None = None,
    config: Config | None = None,
    lineage: Mapping[int, int] | None = None,
    log_start: int = 0,
    rules: tuple[RuleSet, ...] = RULE_SETS,
    expected: Mapping[str, int | None] | None = None,
    **more: Any,
) -> Case:
    """`local` with its active segment last, `end`: log end, `stable`: last stable offset.

    Without local segments there is an empty active one behind the last remote offset.
    """
    flat = tuple(event for several in events for event in several)
    ends = [event.copy.end for event in flat if event.copy]
    log_end = end if end is not None else max([one.base + 10 for one in local] or ends) + 1
    local = local or (LocalSegment(log_end, 0),)
    partition = Partition(
        metadata=Metadata(flat),
        config=config or Config(),
        lineage=lineage or {0: log_start},
        local=local,
        broker_id=LEADER,
        log_start=log_start,
        local_log_start=max(log_start, local[0].base),
        last_stable=log_end if stable is None else stable,
        high_watermark=log_end,
        log_end=log_end,
    )
    return Case(number, partition, flat, rules, expected or {}, **more)


def start(
    name: str,
    first: int,
    last: int,
    epochs: Mapping[int, int] | None = None,
    *,
    size: int = 100,
    max_ms: int = NOW_MS - 1,
    broker: int = LEADER,
) -> Iterator[Event]:
    copy = Segment(name, first, last, epochs or {0: first}, size, max_ms)
    yield Event(name, COPY_STARTED, broker, NOW_MS - 500, copy)


def copy(name: str, first: int, last: int, *arguments: Any, **more: Any) -> Iterator[Event]:
    yield from start(name, first, last, *arguments, **more)
    yield Event(name, COPY_FINISHED, more.get("broker", LEADER), NOW_MS - 400)


def mark(name: str) -> Iterator[Event]:
    """Its deletion starts, and comes no further."""
    yield Event(name, DELETE_STARTED, LEADER, NOW_MS - 300)


def delete(name: str) -> Iterator[Event]:
    yield from mark(name)
    yield Event(name, DELETE_FINISHED, LEADER, NOW_MS - 200)


def copies(count: int, first: int = 0, **more: Any) -> Iterator[Event]:
    """Segments of 100 offsets, named by their number."""
    for number in range(count):
        base = first + 100 * number
        yield from copy(str(number), base, base + 99, **more)


def upload_lag(records: int, **more: int) -> dict[str, int | None]:
    """Difference and sum are always one for uploads."""
    return {"upload_tier_lag": records, "upload_tier_lag_sum": records, **more}


def delete_lag(difference: int, total: int | None = None, **more: int) -> dict[str, int | None]:
    total = difference if total is None else total
    return {"delete_tier_lag": difference, "delete_tier_lag_sum": total, **more}


def upload_cases() -> Iterator[Case]:
    ten = from_bases(range(0, 1_001, 100), 1_000, active=50)
    for done in range(11):
        yield make_case(
            f"1 after {done}",
            copies(done, size=1_000),
            local=ten,
            end=1_010,
            expected=upload_lag(
                1_000 - 100 * done,
                upload_lag_bytes=10_000 - 1_000 * done,
                upload_lag_segments=10 - done,
                upload_in_flight=0,
                upload_blocked_by_lso=0,
            ),
            uploads=tuple(range(100 * done, 1_000, 100)),
            copied_offset=100 * done - 1,
        )
    yield make_case(
        "2",
        copies(3),
        start("fourth", 300, 399),
        local=ten,
        end=1_010,
        expected=upload_lag(700, upload_in_flight=100, upload_tier_lag_issued=600),
    )
    four = from_bases([0, 100, 200, 300], 1_000)
    yield make_case(
        "3",
        local=four,
        stable=250,
        end=310,
        expected=upload_lag(200, upload_blocked_by_lso=100),
        upload_reasons={200: "ABOVE_LAST_STABLE_OFFSET", 300: "ACTIVE"},
    )
    yield make_case(
        "4",
        copies(2),
        local=four,
        stable=250,
        end=310,
        expected=upload_lag(0, upload_blocked_by_lso=100),
        upload_reasons={0: "ALREADY_COPIED", 100: "ALREADY_COPIED"},
    )
    yield make_case("5", copies(2), local=four, end=310, expected=upload_lag(100), uploads=(200,))
    yield make_case("5 then", copies(3), local=four, end=310, expected=upload_lag(0))
    three = from_bases([0, 100, 200])
    yield make_case("6", local=three, stable=200, end=210, expected=upload_lag(200))
    yield make_case(
        "7",
        local=three,
        stable=199,
        end=210,
        expected=upload_lag(100, upload_blocked_by_lso=100),
        uploads=(0,),
    )
    rolled = from_bases([0, 150], active=0)
    yield make_case("8", local=rolled, end=150, expected=upload_lag(150), uploads=(0,))
    yield make_case(
        "10",
        local=from_bases([5, 10, 15]),
        end=20,
        log_start=5,
        expected=upload_lag(10),
        uploads=(5, 10),
    )
    yield make_case(
        "11",
        local=from_bases([5, 10, 15, 20]),
        stable=15,
        end=25,
        log_start=5,
        expected=upload_lag(10, upload_blocked_by_lso=5),
        uploads=(5, 10),
    )
    yield make_case(
        "13",
        local=from_bases([0, 10]),
        stable=0,
        end=15,
        expected=upload_lag(0, upload_blocked_by_lso=10),
        uploads=(),
    )
    yield make_case(
        "14",
        copies(2),
        local=from_bases([0, 100, 200, 300]),
        stable=150,
        end=310,
        expected=upload_lag(0),
        copied_offset=199,
    )
    five = from_bases([0, 100, 200, 300, 400])
    yield make_case(
        "15",
        local=five,
        end=410,
        log_start=150,
        expected=upload_lag(300, upload_lag_new_offsets=250),
        uploads=(100, 200, 300),
        upload_reasons={0: "BELOW_LOG_START"},
    )
    yield make_case(
        "16",
        local=five,
        end=410,
        log_start=200,
        expected=upload_lag(200, upload_lag_new_offsets=200),
        uploads=(200, 300),
    )
    yield make_case("17", copies(2), local=five[1:], end=410, expected=upload_lag(200))
    failed = [*copies(1), *start("failed", 100, 199), *delete("failed")]
    yield make_case("19", failed, local=four, end=310, expected=upload_lag(200), uploads=(100, 200))
    again = [*copy("second", 100, 199), *copy("third", 200, 299)]
    yield make_case("19 then", failed, again, local=four, end=310, expected=upload_lag(0))
    single = from_bases([0, 1, 2])
    ones = [*copy("a", 0, 0), *copy("b", 1, 1)]
    for done in range(3):
        yield make_case(
            f"20 after {done}", ones[: 2 * done], local=single, end=3, expected=upload_lag(2 - done)
        )
    visible = (LocalSegment(0, record_count=90), LocalSegment(100))  # beside ten commit markers
    yield make_case("22", local=visible, end=101, expected=upload_lag(100))
    yield make_case(
        "23",
        local=from_bases([0, 500, 590]),
        end=600,
        lineage={0: 0, 1: 500},
        expected=upload_lag(590),
        copied_offset=-1,
    )
    yield make_case(
        "25",
        copy("a", 0, 200, {0: 0}),
        local=from_bases([0, 150, 200, 300]),
        end=310,
        lineage={0: 0, 1: 150, 2: 300},
        expected=upload_lag(150),
        uploads=(150, 200),
        copied_offset=149,
    )
    yield make_case(
        "26",
        copies(2),
        local=from_bases([0, 100, 180]),
        end=185,
        lineage={0: 0, 1: 150},
        expected=upload_lag(80, upload_lag_new_offsets=30),
        uploads=(100,),
        copied_offset=149,
    )
    yield make_case(
        "28 copy disabled",
        local=three,
        end=210,
        config=Config(is_copy_disabled=True),
        expected={"upload_tier_lag": None, "upload_tier_lag_sum": None},
        uploads=(),
        upload_reasons={0: "COPY_DISABLED", 100: "COPY_DISABLED"},
    )
    aged = (LocalSegment(0, 100, NOW_MS - 1_500), LocalSegment(100, 100, NOW_MS - 500))
    for rules, records in ((KAFKA_4_4, 100), (KIP_963_DRAFT, 200)):
        yield make_case(
            f"29 {rules.name}",
            local=(*aged, LocalSegment(200)),
            end=210,
            config=Config(copy_lag_ms=1_000),
            rules=(rules,),
            expected=upload_lag(records, upload_delayed=200 - records),
            upload_reasons={100: "DELAYED"} if records == 100 else {},
        )
    sized = (LocalSegment(0, 40, NOW_MS), LocalSegment(100, 30, NOW_MS), LocalSegment(200, 20))
    for lag_bytes, records in ((60, 0), (50, 100), (20, 200), (0, 200)):
        yield make_case(
            f"29 by {lag_bytes} bytes",
            local=sized,
            end=210,
            config=Config(copy_lag_ms=-1, copy_lag_bytes=lag_bytes),
            rules=(KAFKA_4_4,),
            expected=upload_lag(records, upload_delayed=200 - records),
        )


def delete_cases() -> Iterator[Case]:
    for done in range(11):
        gone = [event for number in range(done) for event in delete(str(number))]
        yield make_case(
            f"31 after {done}",
            copies(10),
            gone,
            config=EXPIRES_ALL,
            log_start=1_000 if done else 0,
            expected=delete_lag(
                1_000 - 100 * done,
                delete_lag_bytes=1_000 - 100 * done,
                delete_lag_segments=10 - done,
            ),
            log_start_after=1_000,
        )
    for end in (200, 201):
        for done in range(3):
            gone = [event for number in range(done) for event in delete(str(number))]
            yield make_case(
                f"32 with log end {end} after {done}",
                copies(2, size=1_024),
                gone,
                end=end,
                local=(LocalSegment(200, 0),),
                config=Config(retention_bytes=0),
                log_start=200 if done else 0,
                expected=delete_lag(200 - 100 * done, delete_lag_bytes=2_048 - 1_024 * done),
                log_start_after=200,
            )
    for count in (0, 1, 23, 50):
        yield make_case(
            f"34 with {count}",
            copies(50, size=1_024),
            local=(LocalSegment(5_000, 512),),
            end=5_001,
            config=Config(retention_bytes=(50 - count) * 1_024 + 512),
            expected=delete_lag(100 * count),
            deletes=tuple(map(str, range(count))),
            log_start_after=100 * count,
        )
        for rules in RULE_SETS:
            breached = count if rules.breaches_at_boundary else 0
            yield make_case(
                f"35 with {count} {rules.name}",
                copies(count, max_ms=NOW_MS - 1),
                (
                    event
                    for number in range(count, 50)
                    for event in copy(str(number), 100 * number, 100 * number + 99, max_ms=FRESH_MS)
                ),
                config=Config(retention_ms=1),
                rules=(rules,),
                expected=delete_lag(100 * breached),
            )
    yield make_case(
        "37",
        copies(5),
        local=(LocalSegment(500, 50),),
        config=Config(retention_bytes=300),
        expected=delete_lag(200),
        delete_reasons={"1": "RETENTION_SIZE", "2": "NOT_BREACHED", "3": "WALK_STOPPED"},
        log_start_after=200,
    )
    yield make_case(
        "38",
        copy("a", 0, 99, size=300),
        copy("b", 100, 199, size=10),
        copy("c", 200, 299, size=10),
        config=Config(retention_bytes=200),
        expected=delete_lag(0),
        delete_reasons={"a": "NOT_BREACHED", "b": "WALK_STOPPED"},
    )
    yield make_case(
        "40",
        copy("a", 0, 99, max_ms=EXPIRED_MS),
        copy("b", 100, 199, max_ms=FRESH_MS),
        copy("c", 200, 299, max_ms=FRESH_MS),
        copy("d", 300, 399, max_ms=FRESH_MS),
        config=Config(retention_ms=1_000, retention_bytes=250),
        expected=delete_lag(100),
        deletes=("a",),
        delete_reasons={"a": "RETENTION_TIME"},
    )
    yield make_case(
        "41",
        copies(2),
        local=(LocalSegment(200, 510),),
        config=Config(retention_bytes=0),
        expected=delete_lag(200),
    )
    yield make_case(
        "43",
        copy("a", 0, 149, {0: 0, 1: 100}),
        copy("b", 150, 199, {1: 150}),
        lineage={1: 150},
        log_start=150,
        expected=delete_lag(150),
        deletes=("a",),
        delete_reasons={"a": "LOG_START"},
    )
    yield make_case(
        "44",
        copy("a", 0, 1),
        copy("b", 2, 3),
        local=(LocalSegment(4),),
        end=5,
        log_start=3,
        expected=delete_lag(2, delete_lag_segments=1),
        deletes=("a",),
        log_start_after=3,
    )
    yield make_case(
        "46",
        copy("a", 0, 99, {0: 0}, max_ms=FRESH_MS),
        copy("b", 100, 199, {1: 100}, max_ms=EXPIRED_MS),
        lineage={0: 0, 1: 100},
        config=EXPIRES,
        expected=delete_lag(0),
        delete_reasons={"a": "NOT_BREACHED", "b": "WALK_STOPPED"},
    )
    yield make_case(
        "47",
        copy("a", 0, 99, {0: 0, 1: 50}),
        copy("b", 100, 199, {1: 100}),
        lineage={0: 0, 1: 50},
        config=EXPIRES_ALL,
        expected=delete_lag(200, delete_lag_segments=2),
        deletes=("a", "b"),
    )
    yield make_case(
        "49",
        start("a", 0, 99, max_ms=FRESH_MS, broker=OTHER),
        copy("b", 100, 199, max_ms=EXPIRED_MS),
        config=EXPIRES,
        expected=delete_lag(0),
        delete_reasons={"a": "NOT_BREACHED", "b": "WALK_STOPPED"},
    )
    yield make_case(
        "50",
        start("a", 0, 149),
        local=(LocalSegment(0), LocalSegment(150)),
        end=150,
        config=Config(retention_bytes=0),
        expected=delete_lag(0),
        delete_reasons={"a": "COPY_IN_FLIGHT"},
    )
    yield make_case(
        "50 then",
        copy("a", 0, 149),
        local=(LocalSegment(0), LocalSegment(150)),
        end=150,
        config=Config(retention_bytes=0),
        expected=delete_lag(150),
    )
    yield from filtered_copies()
    yield make_case(
        "53",
        copy("a", 0, 99),
        copy("b", 0, 199),
        config=EXPIRES_ALL,
        expected=delete_lag(200, 300),
        log_start_after=200,
    )
    yield make_case(
        "55",
        copy("a", 0, 99),
        copy("b", 300, 399),
        config=EXPIRES_ALL,
        expected=delete_lag(400, 200),
    )
    gone = [event for number in range(3) for event in delete(str(number))]
    yield make_case(
        "56", copies(3), gone, config=EXPIRES_ALL, expected=delete_lag(0), log_start_after=0
    )
    thirds = [*copies(3, size=1_024)]
    yield make_case("58", thirds, config=EXPIRES_ALL, expected=delete_lag(300), log_start_after=300)
    yield make_case(
        "58 then",
        thirds,
        mark("0"),
        config=EXPIRES_ALL,
        log_start=300,
        expected=delete_lag(300, delete_lag_bytes=3_072, delete_tier_lag_issued=200),
        delete_reasons={"0": "DELETE_STARTED", "1": "LOG_START", "2": "LOG_START"},
    )
    yield make_case(
        "58 at last", copies(3), gone, config=EXPIRES_ALL, log_start=300, expected=delete_lag(0)
    )
    yield make_case(
        "59",
        copies(3),
        delete("0"),
        config=EXPIRES,
        log_start=300,
        expected=delete_lag(200),
        deletes=("1", "2"),
        delete_reasons={"1": "LOG_START", "2": "LOG_START"},
        log_start_after=300,
    )
    yield make_case(
        "61",
        copy("a", 0, 199, {1: 0, 5: 50}),
        lineage={5: 50},
        log_start=50,
        expected=delete_lag(0),
        deletes=(),
    )
    yield make_case(
        "62",
        copy("a", 0, 99, {0: 0}),
        copy("b", 100, 299, {0: 100, 1: 200}),
        copy("c", 300, 449, {1: 300, 2: 400}),
        copy("d", 450, 499, {2: 450}),
        lineage={2: 400},
        log_start=400,
        expected=delete_lag(0, 300),
        deletes=("a", "b"),
        delete_reasons={"a": "UNREFERENCED", "b": "UNREFERENCED"},
    )
    yield make_case(
        "64",
        copies(2, max_ms=FRESH_MS),
        mark("1"),
        config=EXPIRES,
        expected=delete_lag(0, 100),
        deletes=("1",),
        delete_reasons={"0": "NOT_BREACHED", "1": "DELETE_STARTED"},
    )
    yield make_case("65", local=from_bases([0]), config=EXPIRES_ALL, expected=delete_lag(0))
    yield make_case(
        "67",
        copies(3),
        local=from_bases([0, 100, 200, 300], active=50),
        config=Config(retention_bytes=400),
        expected=delete_lag(0),
    )
    yield make_case("68", copies(2), config=Config(retention_ms=2**63 - 1), expected=delete_lag(0))


def filtered_copies() -> Iterator[Case]:
    """Case 52 in the order of Kafka's own listing, which is not that of its mocked test."""
    segments = [
        *start("s1", 0, 99, size=1_024, broker=OTHER),
        *start("s2", 0, 99, size=1_024, broker=OTHER),
        *delete("s2"),
        *start("s3", 0, 99, size=1_024, broker=OTHER),
        *mark("s3"),
        *start("s4", 200, 299, size=1_024, broker=OTHER),
        *copies(11, size=1_024),
    ]
    yield make_case(
        "52",
        segments,
        config=Config(retention_bytes=10 * 1_024),
        expected=delete_lag(100, 200),
        deletes=("0", "s3"),
        delete_reasons={"0": "RETENTION_SIZE", "s3": "DELETE_STARTED", "s1": "NOT_BREACHED"},
    )


def lineage_cases() -> Iterator[Case]:
    """Cases 71 to 74 and 82 by what is deleted when everything has expired."""
    lineage = {0: 0, 1: 10, 2: 20, 3: 30, 4: 40, 5: 50, 7: 70}
    inside = {
        "15-35": (15, 35, {1: 15, 2: 20, 3: 30}),
        "0-89": (0, 89, lineage),
        "10-19": (10, 19, {1: 10}),
        "12-19": (12, 19, {1: 12}),
        "75-89": (75, 89, {7: 75}),
    }
    outside = {
        "55-85": (55, 85, {5: 55, 6: 60, 7: 70}),
        "15-45": (15, 45, {1: 15, 2: 20, 4: 40}),
        "70-95": (70, 95, {7: 70}),
        "70-90": (70, 90, {7: 70}),
        "5-25": (5, 25, {1: 5, 2: 20}),
        "15-35": (15, 35, {1: 15, 2: 20}),
    }
    for number, segments in (("73 within", inside), ("73 outside", outside)):
        is_within = segments is inside
        for name, (first, last, epochs) in segments.items():
            yield make_case(
                f"{number} {name}",
                copy("a", first, last, epochs),
                end=90,
                local=(LocalSegment(90, 0),),
                lineage=lineage,
                config=EXPIRES_ALL,
                expected=delete_lag(last + 1 - first if is_within else 0),
                delete_reasons={"a": "RETENTION_TIME" if is_within else "OUTSIDE_LINEAGE"},
            )
    yield make_case(
        "71",
        copy("a", 20, 45, {2: 20, 3: 30, 4: 40}),
        end=90,
        local=(LocalSegment(90, 0),),
        lineage={0: 0, 1: 0, 2: 0, 3: 30, 4: 40, 5: 60, 6: 60, 7: 70, 8: 70},
        config=EXPIRES_ALL,
        expected=delete_lag(26),
    )
    yield make_case(
        "71 with epochs without records",
        copy("a", 20, 65, {2: 20, 3: 30, 4: 40, 5: 60, 6: 60}),
        end=90,
        local=(LocalSegment(90, 0),),
        lineage={0: 0, 1: 0, 2: 0, 3: 30, 4: 40, 5: 60, 6: 60, 7: 70, 8: 70},
        config=EXPIRES_ALL,
        expected=delete_lag(46),
    )
    yield make_case(
        "74",
        copy("a", 14, 150, {5: 14, 7: 15, 9: 100}),
        end=210,
        local=(LocalSegment(151, 0),),
        lineage={7: 51, 9: 100},
        log_start=51,
        config=EXPIRES_ALL,
        expected=delete_lag(137),
    )
    yield make_case(
        "82",
        copy("old", 100, 199),
        copy("new", 100, 179, {0: 100, 1: 150}),
        lineage={0: 100, 1: 150},
        log_start=100,
        config=EXPIRES_ALL,
        expected=delete_lag(80),
        deletes=("new",),
        delete_reasons={"old": "OUTSIDE_LINEAGE"},
    )
    yield make_case(
        "82 in one epoch of two",
        copy("old", 0, 99, {1: 0, 2: 70}),
        copy("new", 0, 9, {1: 0}),
        end=120,
        lineage={3: 110},
        log_start=110,
        expected=delete_lag(0, 110),
        delete_reasons={"old": "UNREFERENCED", "new": "UNREFERENCED"},
    )


def listed_cases() -> list[Case]:
    return [*upload_cases(), *delete_cases(), *lineage_cases()]
