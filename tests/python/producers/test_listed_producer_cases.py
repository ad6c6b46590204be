"""moldau says what the specification's listed cases say: a producer for each, one run for all."""

from __future__ import annotations

import dataclasses

import pytest
from listed_producer_cases import CASES, NOW_MS, PRODUCERS, TOGETHER, Case
from metadata_reference import Round, Rules, decide_round
from producer_support import decide_rounds, topics_of, with_producers

from moldau.sessions.session import Session

CLUSTER, BESIDE = "producers listed", "producers together"


@pytest.fixture(scope="module")
def decided(session: Session) -> dict[str, Round]:
    ours = with_producers(session, {name: case.rules for name, case in CASES.items()})
    return decide_rounds(ours, CLUSTER, PRODUCERS, NOW_MS)


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=list(CASES))
def test_a_listed_case(decided: dict[str, Round], name: str, case: Case) -> None:
    found = decided[name]
    assert (found.cached, found.target) == (case.n, case.target)
    assert found.evicted == set(case.evicted)
    assert found.urgent == set(case.urgent)
    if isinstance(case.other, int):
        assert len(found.other) == case.other
    else:
        assert found.other == set(case.other)
    assert found.fetched == list(case.fetch)
    assert found.decisions.keys() == case.topics.keys()


@pytest.mark.parametrize(("name", "case"), CASES.items(), ids=list(CASES))
def test_the_reference_says_the_same(decided: dict[str, Round], name: str, case: Case) -> None:
    """Also of what the list leaves open: why each topic is decided so."""
    assert decided[name] == decide_round(PRODUCERS[name], NOW_MS, case.rules)


def test_producers_are_decided_for_themselves(session: Session) -> None:
    ours = with_producers(session, {name: Rules() for name in TOGETHER})
    producers = {name: told for name, (told, _, _) in TOGETHER.items()}
    found = decide_rounds(ours, BESIDE, producers, NOW_MS)
    assert {name: (len(one.fetched), one.reason) for name, one in found.items()} == {
        name: (count, reason) for name, (_, count, reason) in TOGETHER.items()
    }
    assert "P10" not in topics_of(session, BESIDE), "all rows of a closed producer go"
    assert found["P10"].decisions == {}


def test_a_case_is_decided_otherwise_by_another_reading() -> None:
    """The readings are told apart by what they decide, not by their names alone."""
    strict = [name for name in CASES if name.endswith("strict")]
    for name in strict:
        case = CASES[name]
        literal = dataclasses.replace(case.rules, is_strict=False)
        assert decide_round(PRODUCERS[name], NOW_MS, literal) != decide_round(
            PRODUCERS[name], NOW_MS, case.rules
        )
