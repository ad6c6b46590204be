"""Classify a plugin's exceptions as failures; those of an asynchronous one by Kafka's rules."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from moldau.plugins.outcomes import SUCCESS, Verdict
from moldau.plugins.protocol import PermanentFailure, TransientFailure

FAILED = Verdict("permanent_failure", "Topology description plugin failed.")
NO_CAUSE = "Plugin failure (no cause)."

Judge = Callable[[BaseException | None], Verdict]
"""The verdict on what failed; None = there is nothing to be seen of the failure."""


def ask(method: Callable[[], Any], is_asynchronous: bool, seconds: float) -> tuple[Verdict, Any]:
    """Call the method and wait for its future; the verdict, and what came of it if it succeeded.

    A future is waited for a little longer than `seconds`, then given up with a TimeoutError.
    """
    try:
        answer = method()
    except BaseException as error:
        told = of_raised(error)
        return (replace(FAILED, withheld=told.message) if is_asynchronous else told), None
    is_future = hasattr(answer, "add_done_callback") or hasattr(answer, "__await__")
    if not is_asynchronous:
        return (_unexpected(answer), None) if is_future else (SUCCESS, answer)
    if not is_future:
        return FAILED, None
    try:
        return SUCCESS, _wait_for(answer, seconds + 1)
    except BaseException as error:
        return of_future(error), None


def _wait_for(future: Any, seconds: float) -> Any:
    """The result of a future, or what it failed with is raised; TimeoutError after `seconds`.

    A concurrent.futures.Future, one of asyncio whose loop runs in another thread, or a coroutine.
    """
    if not hasattr(future, "add_done_callback"):
        return asyncio.run(_within(future, seconds))
    done = threading.Event()

    def watch() -> None:
        future.add_done_callback(lambda _: done.set())

    if hasattr(future, "get_loop") and not future.done():
        future.get_loop().call_soon_threadsafe(watch)
    elif not hasattr(future, "get_loop"):
        watch()
    else:
        done.set()
    if not done.wait(min(seconds, threading.TIMEOUT_MAX)):
        raise TimeoutError("the future was given up")
    return future.result()


async def _within(awaitable: Any, seconds: float) -> Any:
    return await asyncio.wait_for(awaitable, seconds)


def _unexpected(future: Any) -> Verdict:
    """Nobody waits for the future of a plugin that says it has none: what comes of it is open."""
    if hasattr(future, "close"):
        future.close()  # of a coroutine, which nothing has started
    what = f"the plugin gave a {type(future).__name__}: it has to set asynchronous = True"
    return Verdict("transient_failure", what)


def of_raised(error: BaseException | None) -> Verdict:
    """Of what a synchronous plugin raised."""
    is_permanent = isinstance(error, PermanentFailure)
    message = _text(error) or (type(error).__name__ if error is not None else NO_CAUSE)
    return Verdict("permanent_failure" if is_permanent else "transient_failure", message)


def of_future(error: BaseException | None) -> Verdict:
    """Of what a future failed with: a PermanentFailure that is wrapped is one too."""
    texts = []
    for step in _causes(error):
        if isinstance(step, PermanentFailure):
            return Verdict("permanent_failure", _text(step) or NO_CAUSE)
        texts.append(_text(step))
        if isinstance(step, TransientFailure):
            break
    return Verdict("transient_failure", next(filter(None, texts), NO_CAUSE))


def of_batch(answer: Any, group_id: str, judge: Judge) -> Verdict:
    """Of one group, by what a batch form gave: failures by group id, or nothing."""
    if answer is None:
        return SUCCESS
    if not isinstance(answer, Mapping):
        what = f"the plugin's batch form gave {type(answer).__name__}, not failures by group id"
        return Verdict("transient_failure", what)
    failure = answer.get(group_id)
    if failure is None:
        return SUCCESS
    return judge(failure if isinstance(failure, BaseException) else TransientFailure(failure))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The exception and what it was raised from; a group that holds only one is that one."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        else:
            yield error
            error = error.__cause__


def _text(error: BaseException | None) -> str:
    """The exception's text; empty if it has none or its `__str__` fails."""
    if error is None:
        return ""
    try:
        return str(error).strip()
    except BaseException:
        return ""
