"""The process in which a command calls plugins: it may end, and print, and the command goes on."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from spark_support import DISTRIBUTION

from moldau.plugins.registry import PluginSpec
from moldau.plugins.worker import Worker, WorkerEndedError


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setattr(sys, "path", [*sys.path, DISTRIBUTION])
    spec = PluginSpec("scripted", {"folder": str(tmp_path)}, "c", "/w", "/f", 20)
    journal = tmp_path / "journal"
    journal.mkdir()
    with contextlib.closing(Worker({"c": spec}, journal, (), tmp_path / "plugins.log")) as opened:
        yield opened


def call(group: str) -> dict[str, Any]:
    return {
        "call_id": f"call {group}", "run_id": "1", "cluster_id": "c", "group_id": group,
        "operation": "delete", "topology_epoch": 3,
    }  # fmt: skip


def outcomes(answers: list[tuple[Any, ...]]) -> dict[str, str]:
    return {answer[3]: answer[6] for answer in answers}


def test_calls_of_several_rounds_are_answered_by_one_process(
    worker: Worker, tmp_path: Path
) -> None:
    assert outcomes(worker.call([call("a"), call("perm")])) == {
        "a": "success",
        "perm": "permanent_failure",
    }
    assert outcomes(worker.call([call("b")])) == {"b": "success"}
    assert (tmp_path / "calls.txt").read_text() == "a\nb\n"


def test_a_plugin_that_ends_the_process_ends_no_other(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "end").touch()
    with pytest.raises(WorkerEndedError, match=r"exited unexpectedly \(7\)"):
        worker.call([call("crash")])
    told = outcomes(worker.call([call("crash"), call("a")]))
    assert told == {"crash": "transient_failure", "a": "success"}


def test_what_plugins_print_is_in_the_log_of_plugins(
    worker: Worker, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    worker.call([call("loud")])
    assert (tmp_path / "plugins.log").read_text() == "words of a plugin\n"
    assert capfd.readouterr() == ("", "")
