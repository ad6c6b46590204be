"""A plugin that ends the process that calls it: what was under way has failed, the rest goes on.

Real processes that really end; each is one attempt at the slice, as Spark's worker is.
"""

from __future__ import annotations

import pickle
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from spark_support import DISTRIBUTION

from moldau.plugins import kept_answers as journals
from moldau.plugins.calls import make_calls
from moldau.plugins.kept_answers import ENDED_PROCESS, Journal, read_left
from moldau.plugins.outcomes import Call, Outcome
from moldau.plugins.registry import PluginSpec
from moldau.plugins.slices import call_all

AT_ONCE = 32
ENDS_AT_MOST = 3  # in place of moldau's own: each costs a process
Told = dict[str, tuple[str, str | None]]


class Row(NamedTuple):
    """As Spark hands them to the function."""

    call_id: str
    run_id: str
    cluster_id: str
    group_id: str
    operation: str = "delete"
    topology_epoch: int = 3


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, DISTRIBUTION])


def spec(folder: Path, cluster_id: str, seconds: float = 20, failing: str = "") -> PluginSpec:
    options = {"folder": str(folder), "failing": failing}
    return PluginSpec("scripted", options, cluster_id, "/w", "/f", seconds)


def rows(cluster_id: str, *group_ids: str) -> list[Row]:
    """Called in this order."""
    return [
        Row(f"{cluster_id} {number:04}", "1", cluster_id, group)
        for number, group in enumerate(group_ids)
    ]


def attempt(asked: Sequence[Row], specs: dict[str, PluginSpec], journal: Path, to: Path) -> None:
    journals.ENDS_AT_MOST = ENDS_AT_MOST
    to.write_bytes(pickle.dumps(list(call_all(asked, specs, journal))))


def attempts(
    folder: Path,
    asked: Sequence[Row],
    specs: dict[str, PluginSpec],
    between: Callable[[], None] = lambda: None,
) -> tuple[list[int], Told]:
    """Exit codes of the processes, and what the last one told, by group."""
    journal, to = folder / "journal", folder / "told"
    journal.mkdir()
    codes: list[int] = []
    while not codes or (codes[-1] and len(codes) < 20):
        process = get_context("spawn").Process(target=attempt, args=(asked, specs, journal, to))
        process.start()
        process.join(60)
        codes.append(process.exitcode or 0)
        between()
    told = pickle.loads(to.read_bytes())
    assert sorted(row[0] for row in told) == sorted(row.call_id for row in asked)
    return codes, {row[3]: (row[6], row[7]) for row in told}


def test_what_was_under_way_fails_what_was_answered_stays_and_the_rest_is_called(
    tmp_path: Path,
) -> None:
    waiting = [f"wait{number}" for number in range(40)]
    asked = rows("a", "crash", "done1", "done2", *waiting)

    def answered() -> int:
        journals = (tmp_path / "journal").glob("*.jsonl")
        return sum(file.read_text().count('["ended"') for file in journals)

    def end_when_all_wait() -> None:
        while len(list(tmp_path.glob("wait*.called"))) < AT_ONCE - 1 or answered() < 2:
            time.sleep(0.02)
        (tmp_path / "end").touch()

    def let_go() -> None:
        for name in waiting:
            (tmp_path / f"{name}.go").touch()

    threading.Thread(target=end_when_all_wait, daemon=True).start()
    codes, told = attempts(tmp_path, asked, {"a": spec(tmp_path, "a")}, let_go)
    assert codes == [7, 0]
    under_way = ("transient_failure", f"{ENDED_PROCESS} (calls under way: {AT_ONCE})")
    assert told == {
        "crash": under_way,
        "done1": ("success", None),
        "done2": ("success", None),
        **dict.fromkeys(waiting[: AT_ONCE - 1], under_way),
        **dict.fromkeys(waiting[AT_ONCE - 1 :], ("success", None)),
    }
    called = (tmp_path / "calls.txt").read_text().split()
    assert sorted(called) == sorted(["done1", "done2", *waiting[AT_ONCE - 1 :]])


def test_a_plugin_that_does_nothing_else_is_given_up_and_others_are_called(tmp_path: Path) -> None:
    (tmp_path / "end").touch()
    crashing = [f"crash{number}" for number in range(AT_ONCE * (ENDS_AT_MOST + 2))]
    asked = [*rows("a", *crashing), *rows("z", "fine", "well")]
    specs = {name: spec(tmp_path, name) for name in "az"}
    codes, told = attempts(tmp_path, asked, specs)
    assert codes == [7] * ENDS_AT_MOST + [0]
    messages = Counter((told[name][1] or "").split(" (")[0] for name in crashing)
    given_up = f"not called: {ENDED_PROCESS}, {ENDS_AT_MOST} times"
    assert set(messages) == {ENDED_PROCESS, given_up}
    assert messages[given_up] >= 2 * AT_ONCE
    for name in ("fine", "well"):  # unless it was under way beside the first that ended
        assert told[name][0] == "success" or str(told[name][1]).startswith(ENDED_PROCESS)


def test_a_constructor_that_ends_the_process_is_not_called_again(tmp_path: Path) -> None:
    asked = [*rows("a", "fine"), *rows("b", "x", "y"), *rows("c", "well")]
    specs = {name: spec(tmp_path, name, failing="constructor" * (name == "b")) for name in "abc"}
    codes, told = attempts(tmp_path, asked, specs)
    assert codes[-1] == 0
    assert 2 <= len(codes) <= 3, "once beside the others, once by itself"
    reason = "not called: the plugin ended the process that constructed it"
    assert told["x"] == told["y"] == ("transient_failure", reason)
    for name in ("fine", "well"):
        assert told[name][0] == "success" or str(told[name][1]).startswith(ENDED_PROCESS)


def test_what_hangs_in_a_process_that_goes_on_is_no_more_than_late(tmp_path: Path) -> None:
    specs = {"a": spec(tmp_path, "a", seconds=0.2)}
    for _ in range(2):  # of the second attempt nothing is asked
        [late, well] = sorted(call_all(rows("a", "hang", "well"), specs, tmp_path))
        assert (late[6], late[7]) == ("timeout", "no answer in 0.2 s")
        assert well[6] == "success"
    assert read_left(tmp_path).processes == 0
    assert (tmp_path / "calls.txt").read_text().split() == ["well"]


def test_a_call_that_cannot_be_noted_is_not_made(tmp_path: Path) -> None:
    class Plugin:
        def delete_topology(self, group_id: str) -> None:
            pytest.fail("called")

    journal = Journal(tmp_path)
    journal.close()
    made = make_calls(Plugin(), [Call("1", "a", "g", "delete", 3)], 5, before_call=journal.begin)
    assert [it.outcome for it in made] == ["transient_failure"]


def test_a_line_that_was_cut_short_says_nothing(tmp_path: Path) -> None:
    journal: Any = Journal(tmp_path)
    journal.begin([Call("1", "a", "g", "delete", 3), Call("2", "a", "h", "delete", 3)])
    journal.end(Outcome("1", "success", None, 5, 6))
    (file,) = tmp_path.glob("*.jsonl")
    file.write_bytes(file.read_bytes()[:-10])
    left = read_left(tmp_path)
    assert {it.outcome for it in left.outcomes.values()} == {"transient_failure"}
    assert left.outcome("3", "a") is None
