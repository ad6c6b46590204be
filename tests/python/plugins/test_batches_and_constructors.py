"""Batch forms are one call; a plugin that is not there fails every call."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from calls_support import deletes, outcomes

from moldau.plugins import PermanentFailure, calls
from moldau.plugins.calls import Call, make_calls


class Batch:
    def __init__(self, answer: Any) -> None:
        self.answer, self.given = answer, list[Any]()

    def delete_topologies(self, group_ids: Any) -> Any:
        self.given.append(group_ids)
        if isinstance(self.answer, BaseException):
            raise self.answer
        if isinstance(self.answer, float):
            time.sleep(self.answer)
        return self.answer

    def set_topologies(self, descriptions: Any) -> None:
        self.given.append(descriptions)

    def get_topology(self, group_id: str, topology_epoch: int) -> None: ...


def test_a_batch_form_is_called_once_for_all_calls_of_its_operation() -> None:
    plugin = Batch({"a": PermanentFailure("bad"), "b": KeyError(), "unasked": ValueError()})
    made = [*deletes("a", "b", "c"), Call("call d", "east", "d", "set", 3, [1])]
    found = outcomes(lambda: plugin, [*made, Call("call e", "east", "e", "get", 3)])

    assert sorted(plugin.given, key=str) == [["a", "b", "c"], [("d", 3, [1])]]
    assert {group: (it.outcome, it.message) for group, it in found.items()} == {
        "a": ("permanent_failure", "bad"),
        "b": ("transient_failure", "KeyError"),
        **{it: ("success", None) for it in "cde"},
    }


@pytest.mark.parametrize(
    ("answer", "outcome", "message"),
    [
        (None, "success", None),
        ({}, "success", None),
        (PermanentFailure("none of them"), "permanent_failure", "none of them"),
        (OSError("disk"), "transient_failure", "disk"),
        (0.4, "timeout", "no answer in 0.2 s"),
        (True, "transient_failure", "the plugin's batch form gave bool, not failures by group id"),
    ],
)
def test_a_batch_ends_alike_for_all_where_it_says_no_more(
    answer: Any, outcome: str, message: str | None
) -> None:
    found = outcomes(Batch(answer), deletes("a", "b"), seconds=0.2)
    assert {(it.outcome, it.message) for it in found.values()} == {(outcome, message)}


def test_where_the_plugin_cannot_be_constructed_every_call_fails() -> None:
    def broken() -> None:
        raise OSError("no such place")

    found = outcomes(broken, deletes("a", "b"))
    assert {(it.outcome, it.message) for it in found.values()} == {
        ("transient_failure", "the plugin cannot be constructed: OSError: no such place")
    }


def test_a_constructor_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "CONSTRUCTION_SECONDS", 0.1)
    release = threading.Event()
    found = outcomes(lambda: release.wait(20), deletes("a", "b"), seconds=0.1)
    release.set()
    assert {(it.outcome, it.message) for it in found.values()} == {
        ("transient_failure", "the plugin was not constructed in 0.1 s")
    }


def test_no_calls_construct_nothing() -> None:
    assert list(make_calls(lambda: pytest.fail("constructed"), [], 5)) == []
