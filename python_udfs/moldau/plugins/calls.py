"""Make calls of a plugin: one outcome each, whatever the plugin does and however long it takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, assert_never

from moldau.errors import MoldauError
from moldau.plugins.masking import without, without_in
from moldau.plugins.outcomes import SUCCESS, Call, Operation, Outcome, Verdict
from moldau.plugins.protocol import idempotency_key, time_limit
from moldau.plugins.threads import Ended, in_threads
from moldau.plugins.verdicts import ask, of_batch, of_future, of_raised

__all__ = ["Call", "Outcome", "make_calls"]

_BATCH_FORMS: dict[Operation, str] = {"set": "set_topologies", "delete": "delete_topologies"}
CONSTRUCTION_SECONDS = 30.0
"""A constructor may take this long where calls may not: it loads libraries."""
Task = list[Call]
"""Calls that are made together: one, or all that go into a batch form."""
Secrets = Callable[[], Collection[str]]
"""Gives what nobody is told of a plugin's options. It is asked when the plugin first says a word,
so after its module was loaded, and what it gives is taken out of all that the plugin says."""


def make_calls(
    plugin_or_factory: Any,
    calls: Iterable[Call],
    timeout_seconds: float,
    limit: int = 32,
    after_call: Callable[[], None] | None = None,
    before_call: Callable[[Sequence[Call]], None] | None = None,
    secrets: Secrets = tuple,
) -> Iterator[Outcome]:
    """Outcomes as they come, exactly one a call; at most `limit` calls are under way.

    `plugin_or_factory`: a plugin, or its class or a function without parameters that makes one.
    A call without an answer after `timeout_seconds` has the outcome `timeout` and is left behind
    in its daemon thread. Calls for which the plugin has a batch form go into one call of it.
    `before_call` is called in the thread before the plugin is: where it raises the calls fail.
    `after_call` is called in the thread when the plugin has answered, before the outcome is given.
    """
    waiting = list(calls)
    if not waiting:
        return
    patience = max(timeout_seconds, CONSTRUCTION_SECONDS)
    heard = _Heard(secrets)
    made = next(in_threads([plugin_or_factory], _Plugin.of, patience, 1))
    if made.value is None:
        verdict = _not_constructed(made, patience)
        yield from (heard.outcome(call, verdict, made) for call in waiting)
        return
    plugin = made.value

    def run(task: Task) -> list[Verdict]:
        time_limit.set(timeout_seconds)
        if before_call is not None:
            before_call(task)
        try:
            return plugin.make(task, timeout_seconds)
        finally:
            if after_call is not None:
                after_call()

    for ended in in_threads(plugin.tasks(waiting), run, timeout_seconds, limit):
        if ended.value is not None:
            verdicts = ended.value
        elif ended.error is not None:
            verdicts = [of_raised(ended.error)] * len(ended.task)
        else:
            verdicts = [_late(timeout_seconds)] * len(ended.task)
        for call, verdict in zip(ended.task, verdicts, strict=True):
            yield heard.outcome(call, verdict, ended)


def get_topology(
    plugin_or_factory: Any,
    call: Call,
    timeout_seconds: float,
    convert: Callable[[Any], Any],
    secrets: Secrets = tuple,
) -> tuple[Outcome, Any]:
    """How one call of `get_topology` ended, and what came of it if it succeeded.

    `convert`: what to make of the plugin's answer, as mappings, lists and texts, which are then
    without secrets too; where it raises the call has failed.
    """
    patience = max(timeout_seconds, CONSTRUCTION_SECONDS)
    heard = _Heard(secrets)
    made = next(in_threads([plugin_or_factory], _Plugin.of, patience, 1))
    if made.value is None:
        return heard.outcome(call, _not_constructed(made, patience), made), None
    plugin = made.value

    def run(call: Call) -> tuple[Verdict, Any]:
        time_limit.set(timeout_seconds)
        verdict, answer = ask(lambda: plugin._call(call), plugin.is_asynchronous, timeout_seconds)
        return verdict, convert(answer) if verdict == SUCCESS else None

    ended = next(in_threads([call], run, timeout_seconds, 1))
    verdict, answer = ended.value or (_late(timeout_seconds), None)
    if ended.error is not None:
        verdict = of_raised(ended.error)
    return heard.outcome(call, verdict, ended), heard.answer(answer)


def list_topologies(
    plugin_or_factory: Any, timeout_seconds: float, secrets: Secrets = tuple
) -> list[tuple[str, int]]:
    """What the plugin holds: group_id and topology_epoch of each, as they are.

    MoldauError if it cannot tell, or does not in time.
    """
    patience = max(timeout_seconds, CONSTRUCTION_SECONDS)
    heard = _Heard(secrets)
    made = next(in_threads([plugin_or_factory], _Plugin.of, patience, 1))
    if made.value is None:
        raise MoldauError(heard.words(_not_constructed(made, patience).message))
    method = getattr(made.value.instance, "list_topologies", None)
    if not callable(method):
        raise MoldauError("the plugin has no list_topologies: it cannot tell what it holds")
    listed = next(in_threads([method], lambda ask: list(map(_held, ask())), patience, 1))
    if listed.value is not None:
        return listed.value
    told = _late(patience) if listed.error is None else of_raised(listed.error)
    raise MoldauError(f"the plugin did not tell what it holds: {heard.words(told.message)}")


def _held(given: Any) -> tuple[str, int]:
    group_id, epoch = given[0], index(given[1])
    if not isinstance(group_id, str):
        raise TypeError(f"a group that it lists is called {group_id!r}")
    if not -(2**31) <= epoch < 2**31:
        raise ValueError("a topology epoch that it lists has more than 32 bits")
    group_id.encode()  # half a surrogate pair is no name
    return group_id, epoch


def _late(seconds: float) -> Verdict:
    return Verdict("timeout", f"no answer in {seconds:g} s")


@dataclass(frozen=True)
class _Plugin:
    """A plugin and what it has: looked up in a thread, as even that is the plugin's own code."""

    instance: Any
    is_asynchronous: bool
    batch_forms: dict[Operation, Callable[..., Any]]

    @staticmethod
    def of(given: Any) -> _Plugin:
        is_class = isinstance(given, type)
        is_factory = is_class or (callable(given) and not hasattr(given, "delete_topology"))
        instance = given() if is_factory else given
        forms = {name: getattr(instance, form, None) for name, form in _BATCH_FORMS.items()}
        return _Plugin(
            instance,
            bool(getattr(instance, "asynchronous", False)),
            {name: form for name, form in forms.items() if callable(form)},
        )

    def tasks(self, calls: list[Call]) -> list[Task]:
        batches = {name: [it for it in calls if it.operation == name] for name in self.batch_forms}
        single = [[call] for call in calls if call.operation not in self.batch_forms]
        return [batch for batch in batches.values() if batch] + single

    def make(self, task: Task, seconds: float) -> list[Verdict]:
        """One verdict a call of the task."""
        batch_form = self.batch_forms.get(task[0].operation)
        idempotency_key.set(None if batch_form else task[0].call_id)
        if batch_form is None:
            verdict, _ = ask(lambda: self._call(task[0]), self.is_asynchronous, seconds)
            return [verdict]
        given: list[Any] = [
            (call.group_id, call.topology_epoch, call.description)
            if call.operation == "set"
            else call.group_id
            for call in task
        ]
        verdict, answer = ask(lambda: batch_form(given), self.is_asynchronous, seconds)
        if verdict != SUCCESS:
            return [verdict] * len(task)
        judge = of_future if self.is_asynchronous else of_raised
        return [of_batch(answer, call.group_id, judge) for call in task]

    def _call(self, call: Call) -> Any:
        match call.operation:
            case "set":
                return self.instance.set_topology(
                    call.group_id, call.topology_epoch, call.description
                )
            case "delete":
                return self.instance.delete_topology(call.group_id)
            case "get":
                return self.instance.get_topology(call.group_id, call.topology_epoch)
        assert_never(call.operation)


def _not_constructed(made: Ended[Any, _Plugin], seconds: float) -> Verdict:
    """No call was made, so it is no time-out of a call when the constructor hangs."""
    if made.error is None:
        return Verdict("transient_failure", f"the plugin was not constructed in {seconds:g} s")
    reason = f"{type(made.error).__name__}: {of_raised(made.error).message}"
    return Verdict("transient_failure", f"the plugin cannot be constructed: {reason}")


class _Heard:
    """What a plugin says as it is told from here on: without its secrets, and then cut."""

    def __init__(self, secrets: Secrets) -> None:
        self._ask = secrets

    @cached_property
    def _secrets(self) -> Collection[str]:
        return self._ask()

    def words(self, said: str | None) -> str:
        return without(self._secrets, said) or ""

    def answer(self, given: Any) -> Any:
        return given if given is None else without_in(self._secrets, given)

    def outcome(self, call: Call, verdict: Verdict, ended: Ended[Any, Any]) -> Outcome:
        message, withheld = (
            text and self.words(text) for text in (verdict.message, verdict.withheld)
        )
        cut = Verdict(verdict.outcome, message, withheld).cut()
        finished = max(ended.finished_at_ms, ended.started_at_ms)
        times = (ended.started_at_ms, finished)
        return Outcome(call.call_id, cut.outcome, cut.message, *times, cut.withheld)
