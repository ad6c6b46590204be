"""Which orders of steps lose a description or leak one, under each rule set (spec 7.5)."""

from __future__ import annotations

import pytest
from race_support import Level, Races, ask_the_models
from request_support import RULE_SETS

from moldau.project import ROOT
from moldau.sessions.session import Session

LENGTHS = (4, 6, 8, 10)
SCAN = ("scan", "revive newer", "push", "plugin stores")
HISTORY_A = ("scan", "revive", "cycle deletes", "clear")
HISTORY_B = (*SCAN, "push recorded", "cycle deletes", "clear")
HISTORY_C = (*SCAN, "cycle deletes", "clear", "push recorded")
RESIDUAL = (
    "revive newer", "push", "leave", "scan", "barrier", "cycle deletes", "plugin stores", "clear",
    "push fails", "sweep",
)  # fmt: skip
BEFORE = [ruleset for ruleset in RULE_SETS if ruleset != "kafka_4_4"]


@pytest.fixture(scope="module")
def races(session: Session) -> dict[str, Races]:
    taken = ask_the_models(session)
    return {ruleset: Races(ruleset, taken) for ruleset in RULE_SETS}


@pytest.fixture(scope="module")
def levels(races: dict[str, Races]) -> dict[str, list[Level]]:
    return {ruleset: found.explore(max(LENGTHS)) for ruleset, found in races.items()}


def behind_the_barrier(history: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        step for one in history for step in ((one, "barrier") if one == "scan" else (one,))
    )


def test_a_clear_of_the_epoch_that_a_member_came_back_to_heals(races: dict[str, Races]) -> None:
    for ruleset in BEFORE:
        world = races[ruleset].follow(*HISTORY_A)
        assert races[ruleset].is_asked(world)
    world = races["kafka_4_4"].follow(*behind_the_barrier(HISTORY_A))
    assert races["kafka_4_4"].is_asked(world)


@pytest.mark.parametrize("history", [HISTORY_B, HISTORY_C], ids=["b", "c"])
def test_a_push_beside_a_cleanup_is_lost_without_a_barrier(
    races: dict[str, Races], history: tuple[str, ...]
) -> None:
    for ruleset in BEFORE:
        world = races[ruleset].follow(*history)
        assert races[ruleset].is_loss(world), (ruleset, world)
    found = races["kafka_4_4"]
    world = found.follow(*behind_the_barrier(history))
    assert world.plugin is None and found.is_asked(world)


def test_a_removal_without_a_race_loses_or_leaks_before_4_4(races: dict[str, Races]) -> None:
    refused = ("revive", "delete groups", "request deletes", "tombstone")
    for ruleset in BEFORE:
        assert races[ruleset].is_loss(races[ruleset].follow(*refused))
        assert races[ruleset].is_leak(races[ruleset].follow("classic join"))
    found = races["kafka_4_4"]
    with pytest.raises(KeyError):  # not a call for a group that lives
        found.follow(*refused)
    assert not found.is_leak(found.follow("classic join", "request deletes", "convert"))


def test_4_4_leaks_only_a_push_that_a_delete_raced(
    races: dict[str, Races], levels: dict[str, list[Level]]
) -> None:
    found = races["kafka_4_4"]
    assert found.is_leak(found.follow(*RESIDUAL))
    leaks = [w for level in levels["kafka_4_4"] for w in level.counts if found.is_leak(w)]
    assert leaks
    assert all(world.plugin and world.plugin[1] for world in leaks)


def test_4_4_loses_nothing_but_to_a_crash(
    races: dict[str, Races], levels: dict[str, list[Level]]
) -> None:
    found = races["kafka_4_4"]
    losses = [w for level in levels["kafka_4_4"] for w in level.counts if found.is_loss(w)]
    assert losses
    assert all(world.is_crashed for world in losses)
    history = ("delete groups", "revive", "push", "plugin stores", "push recorded")
    # the next run of moldau does what is left to do before anything else
    assert found.is_asked(found.follow(*history, "request deletes", "tombstone"))
    assert found.is_loss(found.follow(*history, "request deletes", "crash"))


def test_the_page_says_what_is_found(
    races: dict[str, Races], levels: dict[str, list[Level]]
) -> None:
    lines = ["| rule set | steps | histories | leaks | losses | losses by a crash |"]
    lines += ["|---|---|---|---|---|---|"]
    for ruleset, found in races.items():
        for length in LENGTHS:
            ends = levels[ruleset][length - 1].counts
            leaks = sum(n for world, n in ends.items() if found.is_leak(world))
            lost = {world: n for world, n in ends.items() if found.is_loss(world)}
            crashed = sum(n for world, n in lost.items() if world.is_crashed)
            counts = (length, sum(ends.values()), leaks, sum(lost.values()) - crashed, crashed)
            lines.append(f"| `{ruleset}` | " + " | ".join(f"{n:,}" for n in counts) + " |")
    table = "\n".join(lines)
    page = (ROOT / "docs" / "races.md").read_text()
    told = page.split("<!-- numbers -->")[1].split("<!-- end of numbers -->")[0].strip()
    assert told == table, f"the page should say:\n{table}"
