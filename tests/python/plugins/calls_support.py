"""Calls to make in a test, and a plugin that does what the group's name says."""

from __future__ import annotations

import threading
from typing import Any

from moldau.plugins import PermanentFailure, TransientFailure
from moldau.plugins.calls import Call, Outcome, make_calls


def deletes(*group_ids: str) -> list[Call]:
    return [Call(f"call {it}", "east", it, "delete", -1) for it in group_ids]


def outcomes(plugin: Any, made: list[Call], seconds: float = 5, **more: Any) -> dict[str, Outcome]:
    """By group id; there is exactly one a call."""
    found = list(make_calls(plugin, made, seconds, **more))
    assert sorted(it.call_id for it in found) == sorted(it.call_id for it in made)
    return {it.call_id.removeprefix("call "): it for it in found}


class Scripted:
    """A plugin of nobody's class, which does with a group what its id says."""

    def __init__(self) -> None:
        self.release = threading.Event()

    def delete_topology(self, group_id: str) -> None:
        match group_id:
            case "permanent":
                raise PermanentFailure("no such tenant")
            case "transient":
                raise TransientFailure("busy")
            case "other":
                raise ValueError("odd")
            case "wordless":
                raise ValueError
            case "exit":
                raise SystemExit(3)
            case "interrupt":
                raise KeyboardInterrupt
            case "long":
                raise ValueError("x" * 5_000)
            case "hang":
                self.release.wait(20)
