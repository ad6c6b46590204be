"""A plugin of another distribution, which does what the group's name says.

Each finished call leaves a line in `calls.txt`; `failing` names the beginnings of group ids whose
deletes fail until the file `healed` is there.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from moldau.plugins import PermanentFailure, TransientFailure

WAIT_SECONDS = 30


class ScriptedPlugin:
    def __init__(self, folder: str, failing: str = "") -> None:
        self.folder = Path(folder)
        self.failing = tuple(filter(None, failing.split()))
        if "constructor" in self.failing:
            os._exit(7)

    def set_topology(self, group_id: str, topology_epoch: int, description: Any) -> None:
        """Fails as the id of the first subtopology says."""
        word = description["subtopologies"][0]["subtopologyId"] if description else ""
        with (self.folder / "calls.txt").open("a") as calls:
            calls.write(f"set {group_id} {topology_epoch} {word}\n")
        if group_id.startswith("wait"):
            (self.folder / f"{group_id}.called").touch()
            self._wait_for(f"{group_id}.go")
        if word.startswith("perm"):
            raise PermanentFailure(word)
        if word.startswith("trans"):
            raise TransientFailure(word)

    def delete_topology(self, group_id: str) -> None:
        name = group_id.replace("/", "_")
        if group_id.startswith("crash"):
            self._wait_for("end")
            os._exit(7)  # as a native library does that crashes
        if group_id.startswith("hang"):
            time.sleep(600)
        if group_id.startswith("loud"):
            print("words of a plugin", flush=True)
        if group_id.startswith("wait"):
            (self.folder / f"{name}.called").touch()
            self._wait_for(f"{name}.go")
        if group_id.startswith("perm"):
            raise PermanentFailure("not supported'; drop table state.groups; --")
        is_failing = bool(self.failing) and group_id.startswith(self.failing)
        if is_failing and not (self.folder / "healed").exists():
            raise TransientFailure("plugin offline")
        with (self.folder / "calls.txt").open("a") as calls:
            calls.write(f"{group_id}\n")

    def _wait_for(self, file: str) -> None:
        for _ in range(WAIT_SECONDS * 20):
            if (self.folder / file).exists():
                break
            time.sleep(0.05)
