"""Plugins that return futures: Kafka's classification, row by row."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from moldau.plugins import PermanentFailure, TransientFailure
from moldau.plugins.calls import Call, make_calls

GENERIC = "Topology description plugin failed."
NO_CAUSE = "Plugin failure (no cause)."
CALL = Call("1", "east", "g", "delete", -1)


class Asynchronous:
    asynchronous = True

    def __init__(self, answer: Callable[[], Any]) -> None:
        self.answer = answer

    def delete_topology(self, group_id: str) -> Any:
        return self.answer()


def ended(error: BaseException | None = None, value: Any = None) -> Callable[[], Future[Any]]:
    future: Future[Any] = Future()
    future.set_exception(error) if error else future.set_result(value)
    return lambda: future


def raising(error: BaseException) -> Callable[[], Any]:
    def fail() -> None:
        raise error

    return fail


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def cancelled() -> Future[Any]:
    future: Future[Any] = Future()
    future.cancel()
    return future


async def refused() -> None:
    await asyncio.sleep(0)
    raise PermanentFailure("no")


def test_what_was_raised_before_a_future_is_kept_beside_the_general_words() -> None:
    (found,) = make_calls(Asynchronous(raising(ValueError("secret"))), [CALL], 5)
    assert (found.message, found.withheld_message) == (GENERIC, "secret")
    (found,) = make_calls(Asynchronous(ended(PermanentFailure("bad"))), [CALL], 5)
    assert (found.message, found.withheld_message) == ("bad", None)


def outcome(plugin: Any, seconds: float = 5) -> tuple[str, str | None]:
    (found,) = make_calls(plugin, [CALL], seconds)
    return found.outcome, found.message


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ended(), ("success", None)),
        (ended(value="anything"), ("success", None)),
        (ended(PermanentFailure("bad")), ("permanent_failure", "bad")),
        (ended(PermanentFailure()), ("permanent_failure", NO_CAUSE)),
        (
            ended(caused(RuntimeError("wrapped"), PermanentFailure("bad"))),
            ("permanent_failure", "bad"),
        ),
        (ended(ExceptionGroup("tasks", [PermanentFailure("bad")])), ("permanent_failure", "bad")),
        (
            ended(caused(TransientFailure("soon"), PermanentFailure("bad"))),
            ("transient_failure", "soon"),
        ),
        (ended(ValueError("odd")), ("transient_failure", "odd")),
        (ended(caused(RuntimeError(), OSError("disk"))), ("transient_failure", "disk")),
        (ended(ValueError()), ("transient_failure", NO_CAUSE)),
        (cancelled, ("transient_failure", NO_CAUSE)),
        (raising(ValueError("secret")), ("permanent_failure", GENERIC)),
        (raising(TransientFailure("secret")), ("permanent_failure", GENERIC)),
        (raising(PermanentFailure("secret")), ("permanent_failure", GENERIC)),
        (lambda: None, ("permanent_failure", GENERIC)),
        (lambda: "no future", ("permanent_failure", GENERIC)),
        (refused, ("permanent_failure", "no")),
        (Future, ("timeout", "no answer in 0.5 s")),
    ],
)
def test_kafkas_rules_hold(answer: Callable[[], Any], expected: tuple[str, str | None]) -> None:
    assert outcome(Asynchronous(answer), seconds=0.5) == expected


def test_work_in_a_pool_is_waited_for() -> None:
    with ThreadPoolExecutor() as pool:
        slow = threading.Event()
        threading.Timer(0.1, slow.set).start()
        plugin = Asynchronous(lambda: pool.submit(slow.wait, 5))
        assert outcome(plugin) == ("success", None)
        assert slow.is_set()


def test_futures_of_a_loop_in_another_thread_are_waited_for() -> None:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def later() -> asyncio.Future[None]:
        future: asyncio.Future[None] = loop.create_future()
        loop.call_soon_threadsafe(loop.call_later, 0.05, future.set_exception, OSError("late"))
        return future

    assert outcome(Asynchronous(later)) == ("transient_failure", "late")
    loop.call_soon_threadsafe(loop.stop)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ended(), ("success", None)),
        (ended(value={"g": PermanentFailure("bad")}), ("permanent_failure", "bad")),
        (ended(value={"g": ValueError()}), ("transient_failure", NO_CAUSE)),
        (ended(OSError("disk")), ("transient_failure", "disk")),
        (raising(OSError("secret")), ("permanent_failure", GENERIC)),
        (lambda: None, ("permanent_failure", GENERIC)),
    ],
)
def test_they_hold_for_a_batch_too(
    answer: Callable[[], Any], expected: tuple[str, str | None]
) -> None:
    class Batch(Asynchronous):
        def delete_topologies(self, group_ids: list[str]) -> Any:
            return self.answer()

    assert outcome(Batch(answer)) == expected


def test_a_future_of_a_plugin_that_does_not_say_so_is_no_success() -> None:
    class Coroutine:
        async def delete_topology(self, group_id: str) -> None:
            raise RuntimeError("never runs")

    class Late:
        def delete_topology(self, group_id: str) -> Future[None]:
            return Future()

    for plugin, kind in ((Coroutine(), "coroutine"), (Late(), "Future")):
        (found,) = make_calls(plugin, [CALL], 5)
        assert (found.outcome, found.message) == (
            "transient_failure",
            f"the plugin gave a {kind}: it has to set asynchronous = True",
        )
