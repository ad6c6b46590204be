"""Every order in which the steps about one group can follow each other.

What a step of moldau does to a group is asked of the models, once for each situation that it can
meet; members, crashes and the plugin's own table are the world around it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from request_support import DUE, HANDLED, RULE_SETS, deletion, heartbeat, join, push, schema_of
from request_support import Group as Asked
from spark_support import change, dicts, parquet_of, put_list, run_alone, table_of, with_clusters

from moldau.sessions.open_run import open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session


class Streams(NamedTuple):
    """A streams group; the epoch is that of its topology."""

    state: Literal["EMPTY", "STABLE"]
    epoch: int
    stored: int


Group = Streams | Literal["classic", "none"]
EPOCHS = (3, 4)  # a topology is replaced once at most
GROUPS: list[Group] = [
    "none",
    "classic",
    *itertools.starmap(Streams, itertools.product(("EMPTY", "STABLE"), EPOCHS, (-2, -1, *EPOCHS))),
]
AT_MS = 1_800_000_000_000
COLUMNS = {
    "cluster_id": "string", "group_id": "string", "offsets_partition_index": "int",
    "group_type": "string", "group_state": "string", "group_epoch": "int",
    "topology_epoch": "int", "stored_description_topology_epoch": "int",
    "failed_description_topology_epoch": "int", "member_count": "int", "is_deleted": "boolean",
    "is_readable": "boolean", "log_offset": "bigint", "tombstone_log_offset": "bigint",
    "last_commit_log_offset": "bigint", "changed_in_run_id": "string",
}  # fmt: skip
CALL = {
    "call_id": "string", "run_id": "string", "cluster_id": "string", "group_id": "string",
    "operation": "string", "topology_epoch": "int", "outcome": "string",
    "started_at_ms": "bigint", "finished_at_ms": "bigint",
}  # fmt: skip


@dataclass(frozen=True)
class Situation:
    """A step about to be taken. `seen`: of the group, when what is going on began."""

    ruleset: str
    step: str
    group: Group
    seen: tuple[int, ...] = ()


@dataclass(frozen=True)
class Taken:
    """What became of the group; `goes_on`: a plugin is to be called."""

    group: Group
    reason: str = ""
    goes_on: bool = False


REQUESTS = {
    "gate": lambda seen: heartbeat(AT_MS),
    "push": lambda seen: push(AT_MS),
    "push recorded": lambda seen: push(AT_MS, seen[0], outcome="success"),
    "push fails": lambda seen: push(AT_MS, seen[0], outcome="transient_failure"),
    "delete groups": lambda seen: deletion(AT_MS),
    "tombstone": lambda seen: deletion(AT_MS, outcome="success"),
    "classic join": lambda seen: join(AT_MS),
    "convert": lambda seen: join(AT_MS, outcome="success"),
}
OBSERVED = [(epoch,) for epoch in (-2, *EPOCHS)]
PUSHED = list(itertools.product(EPOCHS, (-2, -1, *EPOCHS)))  # the epoch, and what was stored then
SEEN = {"push recorded": PUSHED, "push fails": PUSHED, "barrier": OBSERVED, "clear": OBSERVED}
STEPS = (*REQUESTS, "scan", "barrier", "clear", "sweep")


def situations() -> list[Situation]:
    return [
        Situation(ruleset, step, group, seen)
        for ruleset in RULE_SETS
        for step in STEPS
        for group in GROUPS
        for seen in SEEN.get(step, [()])
    ]


def ask_the_models(session: Session) -> dict[Situation, Taken]:
    """What each step comes to: one run of requests and one cycle with a sweep."""
    all_of_them = situations()
    settings = "{{authority: moldau, ruleset: {{groups: {}}}, plugin: {{name: delta}}}}"
    clusters = {f"races-{name}": settings.format(name) for name in RULE_SETS}
    opened = with_clusters(session, clusters)
    keys = [(f"races-{s.ruleset}", f"s{number}") for number, s in enumerate(all_of_them)]
    data = [_row(s, *key) for s, key in zip(all_of_them, keys, strict=True)]
    _insert(opened, "state.groups", COLUMNS, data)
    placed = dict(zip(keys, all_of_them, strict=True))
    reasons = _requests(opened, placed) | _cycle(opened, placed)
    after = {
        (row["cluster_id"], row["group_id"]): _group(row)
        for row in dicts(opened, "select * from state.groups where cluster_id like 'races-%'")
    }
    for table in ("state.groups", "history.plugin_calls", "decisions.group_sweeps"):
        change(opened, f"delete from {table} where cluster_id like 'races-%'")  # no run was told
    return {s: Taken(after[key], *reasons.get(key, ("", False))) for key, s in placed.items()}


Placed = dict[tuple[str, str], Situation]
Reasons = dict[tuple[str, str], tuple[str, bool]]


def _requests(session: Session, placed: Placed) -> Reasons:
    run = Run("00000001-requests", "requests", _clusters(placed), AT_MS)
    open_run(session, run)
    session.make_views(HANDLED, "int_groups__plugin_calls_made")
    asked = {key: _asked(s, key[1]) for key, s in placed.items() if s.step in REQUESTS}
    _put_requests(session, asked)
    handled = dicts(
        session,
        "select cluster_id, group_id, call_id, request_kind, stored_epoch_before, reason_code, "
        f"pushed_epoch, uses_uncertain_epoch from intermediate.{HANDLED}",
    )
    told = {(row["cluster_id"], row["group_id"]): row for row in handled}
    wanted = {key: row for key, row in told.items() if row["reason_code"] == "CALL_WANTED"}
    called = [
        {
            "call_id": row["call_id"], "run_id": run.run_id, "cluster_id": row["cluster_id"],
            "group_id": row["group_id"],
            "operation": "set" if row["request_kind"] == "push" else "delete",
            "needs_barrier": row["uses_uncertain_epoch"],
        }
        for row in wanted.values()
    ]  # fmt: skip
    kinds = ("call_id", "run_id", "cluster_id", "group_id", "operation")
    put_list(
        session,
        "int_groups__request_calls_due",
        {name: CALL[name] for name in kinds} | {"needs_barrier": "boolean"},
        called,
    )
    _put_requests(session, {key: row for key, row in asked.items() if key not in wanted})
    deletes = [
        _call(row, run, row["call_id"], 0)
        for key, row in told.items()
        if placed[key].step in ("tombstone", "convert")
    ]
    _insert(session, "history.plugin_calls", CALL, deletes)
    decided = ("topology_push_results", "group_deletion_results", "classic_join_results")
    run_alone(session, "mark_requested_descriptions_uncertain", "int_groups__requests_answered")
    run_alone(
        session, *(f"int_groups__{name}_decided" for name in decided), "settle_requested_groups"
    )
    return {key: (row["reason_code"], key in wanted) for key, row in told.items()}


def _cycle(session: Session, placed: Placed) -> Reasons:
    run = Run("00000002-cycle", "cycle", _clusters(placed), AT_MS)
    open_run(session, run)
    views = ("cleanup_eligibility_reasoned", "group_sweeps_reasoned", "plugin_calls_made")
    session.make_views(*(f"int_groups__{name}" for name in views))
    keyed: dict[str, list[dict[str, Any]]] = {name: [] for name in STEPS}
    for (cluster, group), s in placed.items():
        keyed[s.step].append({"cluster_id": cluster, "group_id": group, "situation": s})
    for name, step in (("cleanup_groups_due", "scan"), ("sweep_groups_due", "sweep")):
        kinds = {"cluster_id": "string", "group_id": "string", "due_because": "string"}
        put_list(session, f"int_groups__{name}", kinds, keyed[step])
    cleanups = [
        row
        | {"run_id": run.run_id, "observed_epoch": row["situation"].seen[0]}
        | {"needs_barrier": row["situation"].ruleset == "kafka_4_4"}
        for row in keyed["barrier"]
    ]
    kinds = {"run_id": "string", "cluster_id": "string", "group_id": "string"}
    kinds |= {"observed_epoch": "int", "needs_barrier": "boolean"}
    put_list(session, "int_groups__cleanups_due", kinds, cleanups)
    scanned = dicts(
        session,
        "select cluster_id, group_id, reason_code, observed_epoch "
        "from intermediate.int_groups__cleanup_eligibility_reasoned",
    )
    # the calls of the groups that are cleared were made; those behind the barrier are to be
    run_alone(session, "mark_descriptions_uncertain", "int_groups__topology_deletes_due")
    run_alone(session, "int_groups__group_sweeps_decided", "tombstone_groups")
    passed = dicts(
        session, "select cluster_id, group_id from intermediate.int_groups__topology_deletes_due"
    )
    deletes = [
        _call(row, run, f"races {row['group_id']}", row["situation"].seen[0])
        for row in keyed["clear"]
    ]
    _insert(session, "history.plugin_calls", CALL, deletes)
    run_alone(session, "clear_topology_epochs")
    reasons = {(row["cluster_id"], row["group_id"]): (row["reason_code"], False) for row in scanned}
    return reasons | {(row["cluster_id"], row["group_id"]): ("", True) for row in passed}


def _clusters(placed: Placed) -> list[str]:
    return sorted({cluster for cluster, _ in placed})


def _asked(s: Situation, group_id: str) -> dict[str, Any]:
    """The row of `int_groups__requests_due`: a push that was called was found in order then."""
    asked = REQUESTS[s.step](s.seen)
    group = Streams("STABLE", *s.seen) if s.seen else s.group
    if s.step == "push" and isinstance(group, Streams):
        asked |= {"pushed_epoch": group.epoch}
    lives = isinstance(group, Streams)
    row = Asked(
        [asked],
        ruleset=s.ruleset,
        type="streams" if lives else None if group == "none" else "classic",
        state=group.state if lives else None if group == "none" else "PREPARING_REBALANCE",
        topology_epoch=group.epoch if lives else -1,
        stored=group.stored if lives else -1,
        members=frozenset({"m"} if lives and group.state == "STABLE" else ()),
        group_id=group_id,
    ).row({})
    requests = [r | {"request_id": group_id} for r in row["requests"]]
    run = {"run_id": "00000001-requests", "cluster_id": f"races-{s.ruleset}"}
    return row | run | {"decided_at_ms": AT_MS, "requests": requests}


def _put_requests(session: Session, asked: dict[tuple[str, str], dict[str, Any]]) -> None:
    put_list(session, DUE, schema_of(DUE), list(asked.values()))


def _insert(
    session: Session, table: str, kinds: dict[str, str], rows: list[dict[str, Any]]
) -> None:
    change(
        session,
        f"insert into {table} by name select * from {parquet_of(session, table_of(kinds, rows))}",
    )


def _call(row: dict[str, Any], run: Run, call_id: str, epoch: int) -> dict[str, Any]:
    return {
        "call_id": call_id, "run_id": run.run_id, "cluster_id": row["cluster_id"],
        "group_id": row["group_id"], "operation": "delete", "topology_epoch": epoch,
        "outcome": "success", "started_at_ms": AT_MS, "finished_at_ms": AT_MS,
    }  # fmt: skip


def _row(s: Situation, cluster: str, group_id: str) -> dict[str, Any]:
    group = s.group
    lives = isinstance(group, Streams)
    return {
        "cluster_id": cluster, "group_id": group_id, "offsets_partition_index": 0,
        "group_type": "classic" if group == "classic" else "streams",
        "group_state": group.state if lives else "DEAD" if group == "none" else "STABLE",
        "group_epoch": 1, "topology_epoch": group.epoch if lives else -1,
        "stored_description_topology_epoch": group.stored if lives else -1,
        "failed_description_topology_epoch": -1, "member_count": 0,
        "is_deleted": group == "none", "is_readable": True, "log_offset": 0,
        "tombstone_log_offset": -1, "last_commit_log_offset": -1,
        "changed_in_run_id": "00000000-load",
    }  # fmt: skip


def _group(row: dict[str, Any]) -> Group:
    if row["is_deleted"]:
        return "none"
    if row["group_type"] == "classic":
        return "classic"
    return Streams(
        row["group_state"], row["topology_epoch"], row["stored_description_topology_epoch"]
    )


class Push(NamedTuple):
    """A push whose plugin is called, or has stored it (`is_stored`), and which is not recorded yet.

    `is_raced`: the plugin deleted for another step that was going on beside it.
    """

    seen: tuple[int, int]
    is_stored: bool = False
    is_raced: bool = False


class Removal(NamedTuple):
    """A cleanup, DeleteGroups or classic join that is going on; `phase`: what it did last."""

    step: str
    phase: str
    seen: tuple[int, ...] = ()


class World(NamedTuple):
    """One group, what the plugin holds of it, and what is going on.

    `plugin`: the epoch, and whether the push that stored it was raced by a delete.
    """

    group: Group
    plugin: tuple[int, bool] | None
    push: Push | None = None
    cycle: Removal | None = None
    request: Removal | None = None
    is_crashed: bool = False  # a coordinator went down with what it had begun

    @property
    def is_quiet(self) -> bool:
        return self.push is None and self.cycle is None and self.request is None

    @property
    def is_deleting(self) -> bool:
        """The plugin deleted for a step that has not settled the group's epoch yet."""
        return any(r.phase == "deleted" for r in (self.cycle, self.request) if r)


START = World(Streams("EMPTY", 3, 3), (3, False))  # its description is held, its offsets are gone


@dataclass
class Races:
    """The steps of one rule set, by what the models said."""

    ruleset: str
    taken: dict[Situation, Taken]

    def _take(self, step: str, world: World, seen: tuple[int, ...] = ()) -> Taken:
        return self.taken[Situation(self.ruleset, step, world.group, seen)]

    def steps(self, world: World) -> Iterator[tuple[str, World]]:
        """Every step that may come next, and where it leads."""
        yield from self._members(world)
        yield from self._pushes(world)
        yield from self._cycles(world)
        yield from self._requests(world)
        if not world.is_quiet:
            idle = world._replace(push=None, cycle=None, request=None)
            yield "crash", idle._replace(is_crashed=True)

    def _members(self, world: World) -> Iterator[tuple[str, World]]:
        group = world.group
        if group == "none":
            yield "revive", world._replace(group=Streams("STABLE", 3, -1))
        elif isinstance(group, Streams) and group.state == "STABLE":
            yield "leave", world._replace(group=group._replace(state="EMPTY"))
        elif isinstance(group, Streams):
            for epoch in range(group.epoch, max(EPOCHS) + 1):
                step = "revive" if epoch == group.epoch else "revive newer"
                yield step, world._replace(group=group._replace(state="STABLE", epoch=epoch))

    def _pushes(self, world: World) -> Iterator[tuple[str, World]]:
        going = world.push
        if going is None:
            taken = self._take("push", world)
            if self.is_asked(world) and taken.goes_on and isinstance(taken.group, Streams):
                seen = (taken.group.epoch, taken.group.stored)
                begun = Push(seen, is_raced=world.is_deleting)
                yield "push", world._replace(group=taken.group, push=begun)
            return
        if not going.is_stored:
            held = (going.seen[0], going.is_raced or world.is_deleting)
            yield "plugin stores", world._replace(plugin=held, push=going._replace(is_stored=True))
        else:
            taken = self._take("push recorded", world, going.seen)
            yield "push recorded", world._replace(group=taken.group, push=None)
        taken = self._take("push fails", world, going.seen)
        yield "push fails", world._replace(group=taken.group, push=None)

    def _cycles(self, world: World) -> Iterator[tuple[str, World]]:
        going = world.cycle
        if going is None:
            if self._take("scan", world).reason == "ELIGIBLE" and isinstance(world.group, Streams):
                seen = (world.group.stored,)
                phase = "scanned" if self.ruleset == "kafka_4_4" else "called"
                yield "scan", world._replace(cycle=Removal("cycle", phase, seen))
        elif going.phase == "scanned":
            taken = self._take("barrier", world, going.seen)
            after = going._replace(phase="called") if taken.goes_on else None
            yield "barrier", world._replace(group=taken.group, cycle=after)
        elif going.phase == "called":
            yield "cycle deletes", _deleted(world)._replace(cycle=going._replace(phase="deleted"))
        else:
            taken = self._take("clear", world, going.seen)
            yield "clear", world._replace(group=taken.group, cycle=None)
        if going is None and self._take("sweep", world).group != world.group:
            yield "sweep", world._replace(group=self._take("sweep", world).group)

    def _requests(self, world: World) -> Iterator[tuple[str, World]]:
        going = world.request
        if going is None:
            for step, end in (("delete groups", "tombstone"), ("classic join", "convert")):
                taken = self._take(step, world)
                after = Removal(end, "called") if taken.goes_on else None
                if after or taken.group != world.group:
                    yield step, world._replace(group=taken.group, request=after)
        elif going.phase == "called":
            after = going._replace(phase="deleted")
            yield "request deletes", _deleted(world)._replace(request=after)
        else:
            taken = self._take(going.step, world)
            yield going.step, world._replace(group=taken.group, request=None)

    def is_asked(self, world: World) -> bool:
        return self._take("gate", world).reason == "REQUIRED"

    def is_loss(self, world: World) -> bool:
        """A live group whose description is gone, and no member is asked for it again."""
        group = world.group
        return (
            world.is_quiet
            and isinstance(group, Streams)
            and group.state == "STABLE"
            and not self.is_asked(world)
            and (world.plugin is None or world.plugin[0] != group.epoch)
        )

    def is_leak(self, world: World) -> bool:
        """The plugin holds the description of a group that is no streams group any more."""
        return world.is_quiet and world.plugin is not None and not isinstance(world.group, Streams)

    def follow(self, *steps: str) -> World:
        """Where these steps lead; raises KeyError with the steps that were possible."""
        world = START
        for step in steps:
            possible = dict(self.steps(world))
            if step not in possible:
                raise KeyError(step, sorted(possible), world)
            world = possible[step]
        return world

    def explore(self, depth: int) -> list[Level]:
        """All histories of one step, of two, ... of `depth`, counted by where they end."""
        counts: Counter[World] = Counter({START: 1})
        shortest: dict[World, tuple[str, ...]] = {START: ()}
        levels = []
        for _ in range(depth):
            following: Counter[World] = Counter()
            for world, count in counts.items():
                for step, after in self.steps(world):
                    following[after] += count
                    shortest.setdefault(after, (*shortest[world], step))
            counts = following
            levels.append(Level(dict(counts), {w: shortest[w] for w in counts}))
        return levels


def _deleted(world: World) -> World:
    push = world.push
    if push and not push.is_stored:
        push = push._replace(is_raced=True)
    return world._replace(plugin=None, push=push)


@dataclass(frozen=True)
class Level:
    """Histories of one length: how many end in each world, and a shortest one that does."""

    counts: dict[World, int]
    shortest: dict[World, tuple[str, ...]]
