"""The listed cases of the specification: evictions (B), sets (C), fetches (D) and several (P)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from metadata_reference import Producer, Rules, Topic

NOW_MS = 1_700_000_000_000
STRICT = Rules(is_strict=True)
INDEPENDENT = Rules(mode="independent")
SEQUENTIAL = Rules(mode="sequential")
REVISED = Rules("kip_526_revised", multiplies=True)


def topic(la: int = 0, lr: int | None = None, dem: bool = False, ntf: bool = False) -> Topic:
    """Ages in milliseconds: since the last access, since the last refresh (None = not cached)."""
    return Topic(
        NOW_MS - la,
        None if lr is None else NOW_MS - lr,
        dem,
        NOW_MS if ntf else None,
    )


@dataclass(frozen=True)
class Case:
    """`fetch` in the order of the request; of many topics their number does."""

    number: str
    topics: Mapping[str, Topic]
    n: int
    evicted: Sequence[str] = ()
    urgent: Sequence[str] = ()
    other: Sequence[str] | int = ()
    fetch: Sequence[str] = ()
    target: int | None = 20
    rules: Rules = field(default_factory=Rules)


def named(letter: str, first: int, last: int) -> list[str]:
    """a000, a001, ..."""
    step = 1 if first <= last else -1
    return [f"{letter}{number:03}" for number in range(first, last + step, step)]


def several(letter: str, count: int, lr: int, rises: int = 0, la: int = 0) -> dict[str, Topic]:
    """The first is `lr` old, each one after it older by `rises`."""
    return {f"{letter}{number:03}": topic(la, lr + rises * number) for number in range(count)}


A499 = several("a", 500, 200_000, rises=-1)
FRESH = {"la": 0, "lr": 0}


def fresh(count: int) -> dict[str, Topic]:
    return {f"fresh{number}": topic(**FRESH) for number in range(count)}


X = ("x",)
EVICTIONS = [
    Case("B1", {"x": topic(299_999, 10_000)}, 1),
    Case("B2", {"x": topic(300_000, 10_000)}, 0, evicted=X),
    Case("B2", {"x": topic(300_000, 10_000)}, 1, rules=STRICT),
    Case("B4", {"x": topic(400_000, 0)}, 0, evicted=X),
    Case("B5", {"x": topic(0, 299_999)}, 1, other=X),
    Case("B7", {"x": topic(300_000, 100_000, dem=True)}, 0, evicted=X, urgent=X, fetch=X),
    Case("B7", {"x": topic(300_000, 100_000, dem=True)}, 1, rules=STRICT),
    Case("B8", {"x": topic(300_000, 100_000, ntf=True)}, 0, evicted=X),
    Case("B8", {"x": topic(300_000, 100_000, ntf=True)}, 1, urgent=X, fetch=X, rules=STRICT),
    Case("B10", {"x": topic(10)}, 0),
    Case("B11", {"x": topic(999, 5), "y": topic(1000, 5)}, 1, evicted=["y"],
         rules=Rules(evict_ms=1000, idle_ms=1000)),
    Case("B11", {"x": topic(999, 5), "y": topic(1000, 5)}, 2, target=20,
         rules=Rules(evict_ms=1000, idle_ms=1000, is_strict=True)),
    Case("B13", {"x": topic(-50, 10)}, 1),
    Case("B14", {**fresh(62_999), "x": topic(300_000, 0)}, 62_999, evicted=X),
    Case("B16", {"x": topic(300_000, 300_000), "y": topic(0, 300_000)}, 1, evicted=X,
         urgent=["y"], fetch=["y"]),
    Case("B16", {"x": topic(300_000, 300_000), "y": topic(0, 300_000)}, 2,
         urgent=["x", "y"], fetch=["x", "y"], rules=STRICT),
]  # fmt: skip
SETS = [
    Case("C1", {"x": topic(lr=0)}, 1),
    Case("C2", {"x": topic(lr=149_999)}, 1),
    Case("C4", {"x": topic(lr=299_999)}, 1, other=X),
    Case("C5", {"x": topic(lr=300_000)}, 1, urgent=X, fetch=X),
    Case("C7", {"x": topic(lr=0), "y": topic(lr=1)}, 2, urgent=["y"], fetch=["y"],
         rules=Rules(max_age_ms=1)),
    Case("C8", {"x": topic(lr=0)}, 1, urgent=X, fetch=X, rules=Rules(max_age_ms=0)),
    Case("C10", {"x": topic(lr=200_000, ntf=True)}, 1, urgent=X, fetch=X),
    Case("C11", {"x": topic(dem=True)}, 0, urgent=X, fetch=X),
    Case("C13", {"x": topic(ntf=True)}, 0, urgent=X, fetch=X),
    Case("C14", {"x": topic(lr=10, dem=True)}, 1),
    Case("C16", {"x": topic(lr=200_000, dem=True)}, 1, other=X),
]  # fmt: skip
TEN_IDLE = several("a", 10, 200_000, la=300_000)
T20 = several("t", 20, 300_000)
T25 = several("t", 25, 300_000)
A30 = several("a", 30, 200_000, rises=-1)
ONE_STALE = {"t000": topic(lr=300_000)}
WAITING = {"x": topic(dem=True)}
FETCHES = [
    Case("D2", several("a", 19, 200_000), 19, other=19),
    Case("D4", several("a", 21, 200_000, rises=-1), 21, other=21, fetch=named("a", 0, 19)),
    Case("D5", several("a", 21, 200_000, rises=1), 21, other=21, fetch=named("a", 20, 1)),
    Case("D7", {**several("a", 19, 200_000), "b000": topic(lr=149_999)}, 20, other=19),
    Case("D8", ONE_STALE, 1, urgent=["t000"], fetch=["t000"]),
    Case("D10", {**ONE_STALE, **several("a", 19, 200_000, rises=-1)}, 20,
         urgent=["t000"], other=19, fetch=["t000", *named("a", 0, 18)]),
    Case("D11", {**ONE_STALE, **several("a", 20, 200_000, rises=-1)}, 21,
         urgent=["t000"], other=20, fetch=["t000", *named("a", 0, 18)]),
    Case("D11", {**ONE_STALE, **several("a", 20, 200_000, rises=-1)}, 21,
         urgent=["t000"], other=20, fetch=["t000", *named("a", 0, 19)], rules=INDEPENDENT),
    *(
        Case("D13", {**T20, **A30}, 50, urgent=named("t", 0, 19), other=30,
             fetch=[*named("t", 0, 19), *more], rules=rules)
        for rules, more in [
            (Rules(), []), (INDEPENDENT, named("a", 0, 19)), (SEQUENTIAL, named("a", 0, 19)),
        ]
    ),
    *(
        Case("D14", {**T25, **A30}, 55, urgent=named("t", 0, 24), other=30,
             fetch=[*named("t", 0, 24), *more], rules=rules)
        for rules, more in [
            (Rules(), []), (INDEPENDENT, named("a", 0, 19)), (SEQUENTIAL, named("a", 0, 19)),
        ]
    ),
    Case("D16", {**WAITING, **several("a", 500, 0)}, 500, urgent=X, fetch=X),
    *(
        Case("D17", {**WAITING, **A499}, 500, urgent=X, other=500, fetch=["x", *more], rules=rules)
        for rules, more in [
            (Rules(), named("a", 0, 18)), (INDEPENDENT, named("a", 0, 19)),
            (SEQUENTIAL, named("a", 0, 38)),
        ]
    ),
    Case("D16", {**WAITING, **several("a", 500, 0)}, 500, urgent=X, other=500,
         fetch=["x", *named("a", 0, 499)], target=None,
         rules=Rules("before_2_5", requests="all", counts_from_answer=True)),
    Case("D17", {**WAITING, **A499}, 500, urgent=X, fetch=X, target=None,
         rules=Rules("kafka_2_5", requests="new_or_all")),
    Case("D19", {**several("a", 29, 200_000), **fresh(871)}, 900, other=29, target=30,
         rules=REVISED),
    Case("D20", {**several("a", 30, 200_000), **fresh(870)}, 900, other=30, target=30,
         fetch=named("a", 0, 29), rules=REVISED),
    Case("D22", {**several("a", 20, 200_000), **fresh(62_980)}, 63_000, other=20, target=21),
    Case("D23", {**several("a", 21, 200_000), **fresh(62_979)}, 63_000, other=21, target=21,
         fetch=named("a", 0, 20)),
    Case("D25", {**TEN_IDLE, **several("b", 19, 200_000)}, 19, evicted=named("a", 0, 9), other=19),
    Case("D25", {**TEN_IDLE, **several("b", 19, 200_000)}, 29, other=29,
         fetch=[*named("a", 0, 9), *named("b", 0, 9)], rules=STRICT),
    Case("D26", {**TEN_IDLE, **several("b", 20, 200_000)}, 20, evicted=named("a", 0, 9),
         other=20, fetch=named("b", 0, 19)),
    Case("D26", {**TEN_IDLE, **several("b", 20, 200_000)}, 30, other=30,
         fetch=[*named("a", 0, 9), *named("b", 0, 9)], rules=STRICT),
    Case("D28", several("a", 1000, 200_000, rises=-1), 1000, other=1000,
         fetch=named("a", 0, 19), rules=Rules(evict_ms=5000, idle_ms=5000)),
]  # fmt: skip


def name_of(case: Case) -> str:
    """A producer of its own for each case and reading."""
    rules = case.rules
    reading = "strict" if rules.is_strict else rules.mode if rules.mode != "single" else ""
    return " ".join(filter(None, [case.number, rules.ruleset, reading]))


CASES = {name_of(case): case for case in [*EVICTIONS, *SETS, *FETCHES]}
PRODUCERS = {name: Producer(case.topics) for name, case in CASES.items()}


def a(count: int, lr: int = 200_000) -> dict[str, Topic]:
    return several("a", count, lr)


STALE = {"x": topic(lr=300_000)}
# what 5.4 says of several producers, requests in flight and failures: -> what is fetched, and why
TOGETHER = {
    "P1 twenty": (Producer(a(20)), 20, "FETCH"),
    "P1 nineteen": (Producer(a(19)), 0, "NOTHING_DUE"),
    "P2 one": (Producer(a(10)), 0, "NOTHING_DUE"),
    "P2 the other": (Producer(a(10)), 0, "NOTHING_DUE"),
    "P4": (Producer(STALE, in_flight_since=NOW_MS - 50), 0, "REQUEST_IN_FLIGHT"),
    "P5 at 99": (Producer(STALE, failed_at=NOW_MS - 99), 0, "BACKING_OFF"),
    "P5 at 100": (Producer(STALE, failed_at=NOW_MS - 100), 1, "FETCH"),
    "P10": (Producer({"x": topic(la=10, lr=300_000)}, closed_at=NOW_MS - 1), 0, "CLOSED"),
}
