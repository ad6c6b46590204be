"""make_calls: one outcome a call, bounded, timed, whatever the plugin does."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from calls_support import Scripted, deletes, outcomes

from moldau.plugins import idempotency_key
from moldau.plugins.calls import Call, make_calls
from moldau.plugins.threads import HANGING_AT_MOST


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    plugin = Scripted()
    yield plugin
    plugin.release.set()


def test_every_call_has_one_outcome_with_its_message(scripted: Scripted) -> None:
    expected = {
        "fine": ("success", None),
        "permanent": ("permanent_failure", "no such tenant"),
        "transient": ("transient_failure", "busy"),
        "other": ("transient_failure", "odd"),
        "wordless": ("transient_failure", "ValueError"),
        "exit": ("transient_failure", "3"),
        "interrupt": ("transient_failure", "KeyboardInterrupt"),
        "long": ("transient_failure", "x" * 4_000),
    }
    found = outcomes(scripted, deletes(*expected))
    assert {group: (it.outcome, it.message) for group, it in found.items()} == expected


def test_a_call_that_hangs_is_left_behind_and_its_slot_is_free_again(scripted: Scripted) -> None:
    before = time.time() * 1_000
    many = [f"g{number}" for number in range(50)]
    found = outcomes(scripted, deletes("hang", *many), seconds=0.2, limit=1)

    late = found.pop("hang")
    assert (late.outcome, late.message) == ("timeout", "no answer in 0.2 s")
    assert before - 1 <= late.started_at_ms <= late.finished_at_ms - 190
    assert {it.outcome for it in found.values()} == {"success"}


def test_a_plugin_that_never_answers_costs_two_time_outs_and_few_threads(
    scripted: Scripted,
) -> None:
    made = [Call(f"call {number}", "east", "hang", "delete", -1) for number in range(500)]
    found = list(make_calls(scripted, made, 0.5))
    hung = [it for it in found if it.outcome == "timeout"]
    refused = [it for it in found if it.outcome == "transient_failure"]
    assert len(found) == len(hung) + len(refused) == 500
    assert HANGING_AT_MOST <= len(hung) < 2 * HANGING_AT_MOST
    assert {it.message for it in refused} <= {
        f"not called: {hanging} calls before it hang"
        for hanging in range(HANGING_AT_MOST, 2 * HANGING_AT_MOST)
    }


def test_a_late_answer_is_ignored(scripted: Scripted) -> None:
    found = make_calls(scripted, deletes("hang", "fine", "other"), 0.2, limit=1)
    assert next(found).outcome == "timeout"
    scripted.release.set()
    time.sleep(0.1)
    assert sorted(it.call_id for it in found) == ["call fine", "call other"]


def calling_threads() -> set[threading.Thread]:
    return {it for it in threading.enumerate() if it.name == "moldau-plugin-call"}


def test_threads_end_when_all_is_done_and_do_not_hold_the_process(scripted: Scripted) -> None:
    before = calling_threads()
    outcomes(scripted, deletes("hang", "fine"), seconds=0.1)
    left = calling_threads() - before
    assert all(thread.daemon for thread in left)
    scripted.release.set()
    for thread in left:
        thread.join(5)
    assert not any(thread.is_alive() for thread in left)


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_calls_than_the_limit_are_under_way(limit: int) -> None:
    lock, under_way, most = threading.Lock(), 0, 0

    class Counting:
        def delete_topology(self, group_id: str) -> None:
            nonlocal under_way, most
            with lock:
                under_way += 1
                most = max(most, under_way)
            time.sleep(0.02)
            with lock:
                under_way -= 1

    outcomes(Counting(), deletes(*"abcdefgh"), limit=limit)
    assert most == limit


def test_sets_and_gets_are_given_what_they_need() -> None:
    seen: list[Any] = []

    class Noting:
        def set_topology(self, *given: Any) -> None:
            seen.append((given, idempotency_key.get()))

        def get_topology(self, *given: Any) -> None:
            seen.append((given, idempotency_key.get()))

        def delete_topology(self, *given: Any) -> None:
            seen.append((given, idempotency_key.get()))

    made = [
        Call("1", "c", "g", "set", 7, {"a": 1}),
        Call("2", "c", "g", "get", 7),
        Call("3", "c", "g", "delete", 7),
    ]
    assert {it.outcome for it in make_calls(Noting, made, 5, limit=1)} == {"success"}
    assert seen == [(("g", 7, {"a": 1}), "1"), (("g", 7), "2"), (("g",), "3")]
    assert idempotency_key.get() is None


def test_after_call_comes_between_the_answer_and_its_outcome() -> None:
    noted: list[str] = []

    class Noting:
        def delete_topology(self, group_id: str) -> None:
            noted.append(group_id)

    for it in make_calls(Noting(), deletes("a", "b"), 5, 1, lambda: noted.append("after")):
        noted.append(it.outcome)
    assert noted == ["a", "after", "success", "b", "after", "success"]


def test_even_a_failing_after_call_leaves_an_outcome() -> None:
    def fail() -> None:
        raise SystemExit("stop")

    found = outcomes(Scripted(), deletes("fine"), after_call=fail)["fine"]
    assert (found.outcome, found.message) == ("transient_failure", "stop")


def test_a_machine_without_threads_left_is_a_failed_call(monkeypatch: pytest.MonkeyPatch) -> None:
    start, started = threading.Thread.start, list[int]()

    def few(thread: threading.Thread) -> None:
        if len(started) == 1:
            raise RuntimeError("can't start new thread")
        started.append(1)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", few)
    found = outcomes(Scripted(), deletes("a", "b"))
    assert {(it.outcome, it.message) for it in found.values()} == {
        ("transient_failure", "can't start new thread")
    }


def test_who_stops_listening_leaves_no_thread_behind() -> None:
    before = calling_threads()
    found = make_calls(Scripted(), deletes(*"abcd"), 5, limit=1)
    next(found)
    with contextlib.closing(found):
        pass
    left = calling_threads() - before
    for thread in left:
        thread.join(5)
    assert not any(thread.is_alive() for thread in left)
