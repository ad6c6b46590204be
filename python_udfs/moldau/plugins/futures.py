"""Wait for what an asynchronous plugin returned."""

from __future__ import annotations

import asyncio
import threading
from typing import Any


def wait_for(future: Any, seconds: float) -> Any:
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
