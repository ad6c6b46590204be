"""A plugin whose calls end as those of a recorded plugin did, which returned futures.

`results.json` in its folder holds by group (of sets by `set <group>`) what became of each of its
calls, in their order: `ok`, `permanent` and `transient` (the future fails in the plugin's words),
`null future`, `fail` (the future fails), `throw` and, of a delete, `null` (no future at all), or
`slow start`: such a call leaves the file `<group>.called` and ends well when `<group>.go` is there.
A call too many fails with a message of its own.
"""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import Future
from pathlib import Path

from moldau.plugins import PermanentFailure, TransientFailure


class ReplayedPlugin:
    asynchronous = True

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def set_topology(self, group_id: str, topology_epoch: int, description: object) -> object:
        future: Future[None] = Future()
        match self._next_result(f"set {group_id}"):
            case "throw":
                raise RuntimeError("thrown")
            case "null future":
                return None
            case "ok":
                future.set_result(None)
            case "permanent":
                future.set_exception(PermanentFailure("perm: too large"))
            case _:
                future.set_exception(TransientFailure("trans: try later"))
        return future

    def delete_topology(self, group_id: str) -> Future[None] | None:
        future: Future[None] = Future()
        match self._next_result(group_id):
            case "throw":
                raise RuntimeError("thrown")
            case "null":
                return None
            case "ok":
                future.set_result(None)
            case "slow start":
                threading.Thread(target=self._wait, args=(group_id, future), daemon=True).start()
            case result:
                future.set_exception(TransientFailure(result))
        return future

    def _next_result(self, group_id: str) -> str:
        """Counted in a file: the next call may be made by another process."""
        results = json.loads((self.folder / "results.json").read_text())[group_id]
        with (self.folder / f"{group_id}.calls").open("ab") as calls:
            number = calls.tell()
            calls.write(b".")
        return results[number] if number < len(results) else "the broker made no such call"

    def _wait(self, group_id: str, future: Future[None]) -> None:
        called, go = (self.folder / f"{group_id}.{name}" for name in ("called", "go"))
        called.touch()
        while not go.exists():
            time.sleep(0.02)
        called.unlink()
        go.unlink()
        future.set_result(None)
