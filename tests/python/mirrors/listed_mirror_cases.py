"""The listed cases of the specification (its section 5), as data; numbers are its own.

A case is a topic of one partition: syncs that were there before the checkpoint task started
(`loaded`), syncs that came later, and what is asked: commits of groups, with the answer of each
rule set that the row names. All cases stand in one warehouse, in one flow for each `Variant`.
`full_history`, `full_history_max` and `parity` are one answer (`lake`) unless the row tells them
apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Pairs = tuple[tuple[int, int], ...]

LAKE = ("full_history", "full_history_max", "parity")
GATED, HIGHEST, PARITY = ((name,) for name in LAKE)
READS, FORGETS = ("sparse_reads_checkpoints",), ("sparse_restart_forgets",)
SPARSE = (*READS, *FORGETS)
RULE_SETS = (*LAKE, *SPARSE, "latest_sync")

# how the checkpoint task started: never seen to; with or without its checkpoints; still reading
LIVE, READABLE, DENIED, READING = "live", "readable", "denied", "reading"


@dataclass(frozen=True, order=True)
class Variant:
    """What all cases of one flow share."""

    ruleset: str
    start: str = LIVE
    is_anchored: bool = False
    clamps_first: bool = False

    @property
    def flow(self) -> str:
        more = ["anchored"] * self.is_anchored + ["clamped"] * self.clamps_first
        return "-".join([self.ruleset, self.start, *more])


@dataclass(frozen=True)
class Answer:
    """`reason` None: the row does not tell it. Bounds are told if `has_bounds`."""

    offset: int | None
    reason: str | None = None
    lower: int | None = None
    upper: int | None = None
    reread_max: int | None = None

    @property
    def has_bounds(self) -> bool:
        return self.upper is not None


@dataclass(frozen=True)
class Question:
    """A group's commit (None: its offset is null), and its last checkpoint (upstream, target)."""

    g: int | None
    answers: Mapping[str, Answer]
    last: tuple[int, int] | None = None
    was_committed_before: int | None = None  # the position of a sync that is newer than the commit


@dataclass(frozen=True)
class MirrorCase:
    number: str
    loaded: Pairs
    later: Pairs
    start: str
    questions: tuple[Question, ...]
    is_anchored: bool = False
    clamps_first: bool = False

    @property
    def topic(self) -> str:
        return f"case-{self.number}".replace(" ", "-")

    @property
    def syncs(self) -> Pairs:
        return self.loaded + self.later

    def group(self, position: int) -> str:
        return f"{self.topic}-group-{position}"

    def asked(self) -> Iterator[tuple[int, Question, Variant, Answer]]:
        """Each answer, with the flow that gives it."""
        for position, question in enumerate(self.questions):
            for ruleset, answer in question.answers.items():
                is_lake = ruleset in LAKE
                yield (
                    position,
                    question,
                    Variant(
                        ruleset,
                        self.start if not is_lake or self.start == READING else LIVE,
                        self.is_anchored and is_lake,
                        self.clamps_first and is_lake,
                    ),
                    answer,
                )


Told = int | None | tuple[int | None, str] | Answer


def ask(
    g: int | None,
    *told: tuple[Sequence[str], Told],
    last: tuple[int, int] | None = None,
    was_committed_before: int | None = None,
) -> Question:
    """`told`: rule sets and what they answer; later ones replace earlier ones."""
    answers = {ruleset: _answer(answer) for names, answer in told for ruleset in names}
    return Question(g, answers, last, was_committed_before)


def _answer(told: Told) -> Answer:
    if isinstance(told, Answer):
        return told
    return Answer(*told) if isinstance(told, tuple) else Answer(told)


def both(g: int | None, kafka: Told, lake: Told, last: tuple[int, int] | None = None) -> Question:
    return ask(g, (SPARSE, kafka), (LAKE, lake), last=last)


def same(g: int | None, told: Told, **more: tuple[int, int] | None) -> Question:
    return both(g, told, told, **more)


def make_case(
    number: str,
    later: Iterable[tuple[int, int]],
    *questions: Question,
    loaded: Iterable[tuple[int, int]] = (),
    start: str = LIVE,
    is_anchored: bool = False,
    clamps_first: bool = False,
) -> MirrorCase:
    return MirrorCase(
        number, tuple(loaded), tuple(later), start, questions, is_anchored, clamps_first
    )


def level(*offsets: int) -> Pairs:
    """Syncs of a source that is mirrored one to one."""
    return tuple((offset, offset) for offset in offsets)


NO_SYNC = (None, "NO_SYNC")
TOO_EARLY = (-1, "BEFORE_FIRST_SYNC")


def translation_cases() -> Iterator[MirrorCase]:
    """5.1."""
    two = ((100, 200), (150, 251))
    yield make_case("1", two[:1], same(150, 201))
    # 51 records downstream of 50 upstream: the gate takes it for a replay that it does not see
    yield make_case("2", two, ask(150, (SPARSE, 251), (PARITY, 251), (HIGHEST, 251), (GATED, 201)))
    recreated = (*two, (200, 10))
    yield make_case("4", recreated, same(200, 10))
    yield make_case("5", recreated, both(160, 252, TOO_EARLY), both(199, 252, TOO_EARLY))
    rewound = (*recreated, (20, 20))
    yield make_case(
        "7",
        rewound,
        # at rest 20 is right; the gate must take it for a replay that has not caught up with 200
        ask(20, (SPARSE, 20), (PARITY, 20), (HIGHEST, 20), (GATED, TOO_EARLY)),
    )
    yield make_case(
        "8",
        rewound,
        ask(19, (SPARSE, -1), (PARITY, -1), (HIGHEST, -1), (GATED, -1)),
        ask(21, (SPARSE, 21), (PARITY, 21), (HIGHEST, 21), (GATED, -1)),
        ask(500, (SPARSE, 21), (PARITY, 21), (HIGHEST, 21), (GATED, 11)),
    )
    not_yet = (None, "SYNCS_NOT_CAUGHT_UP")
    yield make_case(
        "10", (), *(same(g, not_yet) for g in (0, 100, 200)), loaded=two[:1], start=READING
    )
    yield make_case("11", two[:1], same(0, TOO_EARLY))
    yield make_case("13", two[:1], same(200, 201))
    yield make_case("14", (), same(0, NO_SYNC))
    yield make_case("16", ((3, 4),), same(10, 5))
    yield make_case("17", ((1, 3),), same(None, (None, "NO_COMMIT")))
    markers = ((0, 0), (11, 10), (22, 20), (33, 30), (44, 40), (53, 49))
    yield make_case("19", markers, same(55, 50))
    yield make_case("20", markers, both(33, 21, 30), both(43, 21, 31))
    # the row's own history is not listed: one that gives its numbers, true positions 4 and 7
    gaps = ((0, 0), (10, 4), (30, 7))
    yield make_case("22", gaps, both(9, 1, 1), both(29, 1, 5))
    yield make_case("22 anchored", gaps, ask(9, (LAKE, 3)), ask(29, (LAKE, 6)), is_anchored=True)
    yield make_case("23", (), same(500, NO_SYNC))


def rows_around(
    rows: Iterable[tuple[int, int]], kafka: Sequence[str]
) -> Iterator[tuple[int, list[Question]]]:
    """Row (S, P) of 5.2 and 5.3: asked at S - 1 to S + 2."""
    for at, before in rows:
        yield (
            at,
            [
                ask(at - 1, (kafka, before + 1 if before >= 0 else -1), (LAKE, at - 9)),
                ask(at, (kafka, at), (LAKE, at)),
                ask(at + 1, (kafka, at + 1), (LAKE, at + 1)),
                ask(at + 2, (kafka, at + 1), (LAKE, at + 1)),
            ],
        )


PESSIMISTIC_ROWS = {
    "25": (1_000, -1),
    "26": (4_840, 1_000),
    "28": (8_680, 6_760),
    "29": (9_160, 8_680),
    "31": (9_880, 9_640),
    "32": (9_940, 9_880),
    "34": (9_990, 9_970),
    "35": (10_000, 9_990),
}
OPTIMISTIC_ROWS = {
    "41": (3_840, 0),
    "43": (8_640, 7_680),
    "44": (9_120, 8_640),
    "46": (9_840, 9_600),
    "47": (9_900, 9_840),
    "49": (9_990, 9_960),
    "50": (10_000, 9_990),
}
TENS = level(*range(0, 1_001, 10))
LATER_TENS = level(*range(1_010, 10_001, 10))


def sparse_cases() -> Iterator[MirrorCase]:
    """5.2 and 5.3: the rows of one state are one case, since its history is long."""
    pessimistic = [one for _, several in rows_around(PESSIMISTIC_ROWS.values(), SPARSE)
                   for one in several]  # fmt: skip
    yield make_case("25 to 35", LATER_TENS, *pessimistic, loaded=TENS, start=DENIED)
    early = [one for _, several in rows_around([(480, 0), (720, 480)], READS) for one in several]
    yield make_case(
        "37 to 40", (), *early, ask(500, (READS, 481), (LAKE, 500)), loaded=TENS, start=READABLE
    )
    optimistic = [one for _, several in rows_around(OPTIMISTIC_ROWS.values(), READS)
                  for one in several]  # fmt: skip
    yield make_case("41 to 50", LATER_TENS, *optimistic, loaded=TENS, start=READABLE)


FIRST_THOUSAND = level(*range(0, 910, 101), 999)
SECOND_THOUSAND = level(*range(1_010, 1_920, 101), 1_999)


def restart_cases() -> Iterator[MirrorCase]:
    """5.4."""
    yield make_case(
        "56", (), ask(250, (READS, 201), (LAKE, 201)), loaded=level(100, 200, 300), start=READABLE
    )
    last = (250, 201)
    yield make_case(
        "58 59",
        (),
        ask(
            370,
            (READS, (176, "SKIP_DOWNSTREAM_REWIND")),
            (LAKE, (276, "EMIT_ADVANCED")),
            last=last,
        ),
        ask(400, (READS, (376, "EMIT_ADVANCED")), (LAKE, (376, "EMIT_ADVANCED")), last=last),
        loaded=level(175, 275, 375, 475),
        start=READABLE,
    )
    seed = (500, 405)
    repeated = (405, "SKIP_REPEATED")
    at_500 = ask(500, (FORGETS, -1), (LAKE, repeated), last=seed)
    yield make_case("64", (), at_500, loaded=FIRST_THOUSAND, start=READABLE)
    yield make_case(
        "64 denied", (), ask(500, (SPARSE, -1), last=seed), loaded=FIRST_THOUSAND, start=DENIED
    )
    yield make_case(
        "65",
        SECOND_THOUSAND,
        at_500,
        ask(1_500, (FORGETS, 1_415), (LAKE, 1_415)),
        ask(2_000, (FORGETS, 2_000), (LAKE, 2_000)),
        loaded=FIRST_THOUSAND,
        start=READABLE,
    )
    withheld = (1, "SKIP_DOWNSTREAM_REWIND")
    yield make_case(
        "67 to 70",
        SECOND_THOUSAND,
        ask(500, (READS, withheld), (LAKE, repeated), last=seed),
        ask(750, (READS, withheld), (LAKE, (708, "EMIT_ADVANCED")), last=seed),
        ask(1_250, (READS, 809), (LAKE, 1_213)),
        ask(1_500, (READS, 809), (LAKE, 1_415)),
        ask(1_750, (READS, 1_617), (LAKE, 1_718)),
        loaded=FIRST_THOUSAND,
        start=READABLE,
    )
    yield make_case(
        "71",
        (),
        ask(999, (READS, -1), (LAKE, 991)),
        ask(1_000, (READS, 1_000), (LAKE, 1_000)),
        ask(5_000, (READS, 1_001), (LAKE, 1_001)),
        loaded=TENS,
        start=DENIED,
    )


def guard_cases() -> Iterator[MirrorCase]:
    """5.5; where a row names only T, the syncs are the fewest that give it."""
    last = (250, 201)
    yield make_case("74", level(200), same(250, (201, "EMIT_FIRST")))
    yield make_case("76", level(200, 375), same(400, (376, "EMIT_ADVANCED"), last=last))
    yield make_case("77", level(200), same(250, (201, "SKIP_REPEATED"), last=last))
    yield make_case("79", level(175), same(370, (176, "SKIP_DOWNSTREAM_REWIND"), last=last))
    yield make_case("80", level(175), same(240, (176, "EMIT_GROUP_REWIND"), last=last))
    yield make_case("82", level(200), same(240, (201, "EMIT_GROUP_REWIND"), last=last))
    sightings = [same(g, (101, "SKIP_REPEATED"), last=(100, 101)) for g in (150, 120)]
    yield make_case("83", ((50, 100),), *sightings)
    rewinding = tuple((11 + step, 4 + step) for step in range(7))
    yield make_case("85", rewinding[:2], same(13, (6, "EMIT_FIRST")))
    yield make_case(
        "86",
        rewinding,
        both(13, (5, "SKIP_DOWNSTREAM_REWIND"), (6, "SKIP_REPEATED"), last=(13, 6)),
    )
    yield make_case(
        "88",
        ((100, 200), (150, 251), (200, 10)),
        both(300, (11, "SKIP_DOWNSTREAM_REWIND"), (11, "EMIT_NEW_INCARNATION"), last=(200, 252)),
    )
    replayed = (*level(0, 101, 202, 303), (251, 310), (352, 411))
    expected = {
        202: (-1, 202, 202),
        250: (-1, 203, 203),
        260: (311, 311, 203),
        351: (311, 311, 304),
    }
    yield make_case(
        "89",
        replayed,
        *(
            ask(g, (SPARSE, kafka), (PARITY, kafka), (HIGHEST, highest), (GATED, gated))
            for g, (kafka, highest, gated) in expected.items()
        ),
    )
    # row 90 is not listed: the source begins again at 0, and at 351 on the target
    yield make_case(
        "91",
        (*level(0, 101, 202, 303), (0, 351)),
        ask(
            300,
            (SPARSE, 352),
            (PARITY, (None, "COMMIT_FROM_OLD_INCARNATION")),
            was_committed_before=4,
        ),
    )


def lakehouse_cases() -> Iterator[MirrorCase]:
    """5.9, and the replay of 2.6 that its last rows go on with."""
    dense, sparse = ((100, 200), (201, 301)), ((100, 200), (201, 261))
    yield make_case("133", dense, ask(150, (LAKE, 201)))
    yield make_case(
        "133 anchored", dense, ask(150, (LAKE, Answer(250, None, 250, 250, 0))), is_anchored=True
    )
    yield make_case("134", sparse, ask(150, (LAKE, 201)))
    yield make_case(
        "134 anchored", sparse, ask(150, (LAKE, Answer(210, None, 210, 250, 40))), is_anchored=True
    )
    yield make_case("136", ((7, 0),), ask(3, (LAKE, TOO_EARLY)))
    clamped = (0, "BEFORE_FIRST_SYNC_CLAMPED")
    yield make_case("136 clamped", ((7, 0),), ask(3, (LAKE, clamped)), clamps_first=True)
    mirrored = level(*range(0, 1_011, 101))
    replay = ((960, 1_051), (1_061, 1_152), (1_162, 1_253))
    last = (1_020, 1_011)
    waits = (1_011, "REPLAY_CATCHING_UP")
    for number, count in (("144", 1), ("145", 2)):
        yield make_case(
            number,
            (*mirrored, *replay[:count]),
            ask(1_020, (SPARSE, 1_052), (GATED, waits), last=last),
        )
    yield make_case(
        "146",
        (*mirrored, *replay),
        ask(1_020, (SPARSE, 1_052), (GATED, (1_052, "EMIT_ADVANCED")), last=last),
        ask(1_100, (SPARSE, 1_153), (GATED, 1_153)),
        ask(500, (SPARSE, -1), (GATED, 405)),
    )


def listed_cases() -> list[MirrorCase]:
    return [
        *translation_cases(),
        *sparse_cases(),
        *restart_cases(),
        *guard_cases(),
        *lakehouse_cases(),
    ]


def latest_sync_cases() -> list[MirrorCase]:
    """1.3: before KAFKA-14666 the latest sync alone translates, at whatever start."""
    latest = ("latest_sync",)
    answers = {500: -1, 1_998: -1, 1_999: 1_999, 2_000: 2_000, 9_999: 2_000}
    several = [ask(g, (latest, told)) for g, told in answers.items()]
    rewound = (*level(0, 500), (100, 600))
    return [
        make_case("latest", SECOND_THOUSAND, *several, loaded=FIRST_THOUSAND),
        make_case("latest rewound", rewound, ask(300, (latest, 601))),
    ]


@dataclass(frozen=True)
class TargetCase:
    """5.6: `offset` None with a known group is Kafka's null value; `state` None: no such group."""

    number: str
    state: str | None
    offset: int | None
    checkpoint: tuple[int, int]
    decision: str
    reason: str
    has_offset: bool = True  # the partition is among the group's offsets

    @property
    def topic(self) -> str:
        return f"case-{self.number}"


TARGET_CASES = [
    TargetCase("92", "EMPTY", 100, (200, 101), "write", "TARGET_BEHIND"),
    TargetCase("94", "EMPTY", None, (200, 101), "write", "TARGET_ABSENT"),
    TargetCase("95", None, None, (200, 101), "write", "TARGET_ABSENT", has_offset=False),
    TargetCase("97", "EMPTY", 101, (200, 101), "skip", "TARGET_EQUAL"),
    TargetCase("98", "EMPTY", 150, (200, 101), "skip", "TARGET_AHEAD"),
    TargetCase("100", "STABLE", 50, (200, 101), "skip", "TARGET_GROUP_ACTIVE"),
    TargetCase("101", "EMPTY", 150, (250, 201), "write", "TARGET_BEHIND"),
]

# 5.7: lag, and what is due of (u, d) in order; each call is followed by a reset unless `is_kept`
WRITER_CASES: dict[str, tuple[int, list[tuple[int, int, bool, bool]]]] = {
    "106 to 115": (
        50,
        [
            (0, 100, True, False),
            (2, 102, True, False),
            (3, 152, False, False),
            (4, 153, True, False),
            (5, 154, False, False),
            (6, 203, False, False),
            (7, 204, True, False),
            (2, 206, True, False),
            (3, 207, False, False),
            (4, 3, True, False),
            (5, 4, False, False),
            (7, 6, True, True),
            (7, 6, True, True),
            (8, 7, True, True),
            (10, 57, True, False),
            (11, 58, False, False),
        ],
    ),
    "116": (
        0,
        [
            (u, d, True, False)
            for u, d in (
                (0, 100), (2, 102), (3, 153), (4, 154), (5, 155), (6, 207), (2, 208), (3, 209),
                (4, 3), (5, 4), (7, 6), (7, 6), (8, 7), (10, 57), (11, 58),
            )
        ],
    ),
}  # fmt: skip

# 5.8: source topic of the flow source1 -> target2, and where it is on the target
NAME_CASES = {
    "topic3": "source1.topic3",
    "target2.topic3": "topic3",
    "source6.topic7": "source1.source6.topic7",
}

# 125: topic and partition, its sync, group and commit -> topic on the target, and translation
RENAMED_CASES = [
    ("topic1", 2, (3, 4), "group9", 10, "source1.topic1", 5),
    ("target2.topic5", 6, (7, 8), "group11", 12, "topic5", 9),
    ("target2.topic5", 6, (7, 8), "group13", 7, "topic5", 8),
]


@dataclass(frozen=True)
class FilterCase:
    """127: groups and the topics that they have offsets on, and who is left."""

    offsets: Mapping[str, Sequence[str]] = field(
        default_factory=lambda: {"g1": ["t1", "t2"], "g2": ["t2", "t3"], "g3": ["t3"], "g4": ["t2"]}
    )
    topics: str = "t2"
    excluded_groups: str = "g4"
    translated: frozenset[tuple[str, str]] = frozenset({("g1", "t2"), ("g2", "t2")})
    reasons: Mapping[tuple[str, str], str] = field(
        default_factory=lambda: {
            ("g1", "t1"): "TOPIC_FILTERED",
            ("g2", "t3"): "TOPIC_FILTERED",
            ("g3", "t3"): "TOPIC_FILTERED",
            ("g4", "t2"): "GROUP_FILTERED",
        }
    )


# 137: x on the target -> where to resume on the source
REVERSE_SYNCS: Pairs = ((0, 0), (101, 101), (202, 150))
REVERSE_CASES = {150: 202, 151: 203, 120: 102}

# 143: MM2's checkpoint -> the sync that made it, and how much further T* is
EXPLAINED_CASES = {(500, 405): ((404, 404), 0), (500, 1): ((0, 0), 404)}

# section 3: key and value of records, as hex
SYNC_VECTORS = [
    (("topic-1", 2, 3, 4), "0007746f7069632d3100000002", "00000000000000030000000000000004"),
    (("t1", 0, 404, 404), "0002743100000000", "00000000000001940000000000000194"),
]
CHECKPOINT_VECTORS = [
    (
        ("group-1", "topic-2", 3, 4, 5, "metadata-6"),
        "000767726f75702d310007746f7069632d3200000003",
        "000000000000000000040000000000000005000a6d657461646174612d36",
    ),
    (
        ("g", "t1", 0, 250, 201, ""),
        "0001670002743100000000",
        "000000000000000000fa00000000000000c90000",
    ),
]

# rows that are about MM2's own workings, of which moldau has no counterpart
ELSEWHERE = {
    "103": "an integration test of MM2; case 14 says what it needs",
    "104": "an integration test of MM2; the bounds of random histories say more",
    "118": "of the writer, in test_mirror_reference",
    "119": "of the writer, in test_mirror_reference",
    "128": "a flow whose topics match nothing; case 127 with one topic fewer",
    "130": "how a connector starts",
    "131": "settings of a connector",
}
