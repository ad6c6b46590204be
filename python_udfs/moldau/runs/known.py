"""What a run knows of the decisions before it, so that it looks at no more than changed since.

Files of tables never change, and a table's log tells which came and went. A run notes of each table
of decisions what it holds, and what had been decided on, at one version. The next one counts what
came and went since. And what is due follows from the row of a subject and that of its decision
(`changes_of` of the list of what is due): while no decision is stale, and nobody else wrote any,
it is in files of state that came since. Without a note, or where a log does not tell, all is
looked at.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from moldau.compiled.graph import Node, helpers_under, tables_of
from moldau.declared import kinds
from moldau.engines.engine import Part
from moldau.warehouse.ask import sql_text
from moldau.warehouse.contracts import tables
from moldau.warehouse.delta_log import files_since, last_commit
from moldau.warehouse.extents import Extent, extents
from moldau.warehouse.notes import EXACTLY, NotUnderstood, read_note, write_note
from moldau.warehouse.opened import open_latest
from moldau.warehouse.paths import DECIDED
from moldau.warehouse.tallied import Tallied, tally

if TYPE_CHECKING:
    from pathlib import Path

    from moldau.sessions.run import Run
    from moldau.sessions.session import Session

Commit = tuple[int, int]
_FEW = 32  # files; of more it is no dearer to look at all


@dataclass(frozen=True)
class OfCluster:
    """What was decided for a cluster: under which settings, at most when, until when, how often.

    `read`: all that the table has at this commit is decided."""

    __pydantic_config__ = EXACTLY

    settings: str
    decided_at_ms: int
    next_due_at_ms: int | None
    counts: dict[str, int]
    read: dict[str, Commit]


@dataclass(frozen=True)
class Known:
    """Of a table of decisions at a commit, after a run."""

    __pydantic_config__ = EXACTLY

    commit: Commit = (-1, 0)
    run_id: str = ""
    clusters: dict[str, OfCluster] = field(default_factory=dict)


def known_of(warehouse: Path, table: str) -> Known:
    """Nothing, where there is no note that is understood."""
    try:
        return read_note(_file(warehouse, table), Known)
    except (OSError, NotUnderstood):
        return Known()


@dataclass(frozen=True)
class DecidedOn:
    """Last commits, by table: `read` of what changes make decisions due, `before` of the decisions
    as the run finds them."""

    read: dict[str, Commit]
    before: dict[str, Commit]


def look_at_changes(session: Session, run: Run) -> DecidedOn:
    """Let the lists of what is due come from what changed since the last run."""
    models = [model for model in session.models("decide", run.kind) if model.decides]
    read = {}
    for due in helpers_under([model.name for model in models]).values():
        if state := due.meta.get("changes_of"):
            read[state] = _commit(session.warehouse, state)
            session.look_at(due.name, partial(_changed, session, run, due, state))
    for model in session.models("decide", run.kind):
        if "changes_of" in model.meta:
            session.look_at(model.name, partial(_unrecorded, session.warehouse, model))
    before = {model.table: _commit(session.warehouse, model.table) for model in models}
    return DecidedOn(read, before)


def counted(session: Session, run: Run, table: str) -> list[Tallied] | None:
    """What the table holds of the run's clusters now; None = all of it is to be counted."""
    kind, known = kinds()[run.kind], known_of(session.warehouse, table)
    entries = {name: known.clusters.get(name) for name in run.cluster_ids}
    is_told = not (kind.in_scope or kind.decides_once or known.run_id == run.run_id)
    if not is_told or not all(one and _is_before_due(one, run.at_ms) for one in entries.values()):
        return None  # of what came due the next instant is not known
    since = files_since(_folder(session.warehouse, table), known.commit)
    if since is None or sum(map(len, since)) > _FEW:
        return None
    came, went = (tally(session.warehouse, table, files, run.run_id) for files in since)
    if came is None or went is None:
        return None
    rows, of_run = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    due: dict[str, int | None] = {}
    for name, entry in entries.items():
        if entry:
            rows.update({(name, decision): count for decision, count in entry.counts.items()})
            due[name] = entry.next_due_at_ms
    for one in came:
        rows[one.cluster_id, one.decision] += one.rows
        of_run[one.cluster_id, one.decision] += one.of_run
        instants = (due.get(one.cluster_id), one.next_due_at_ms)
        due[one.cluster_id] = min((at for at in instants if at is not None), default=None)
    for one in went:
        rows[one.cluster_id, one.decision] -= one.rows
    return [
        Tallied(name, decision, count, of_run[name, decision], due[name])
        for (name, decision), count in sorted(rows.items(), key=lambda pair: pair[0][1])
        if count and name in entries
    ]


def note_decided(
    session: Session, run: Run, decided_on: DecidedOn, tallied: Mapping[str, Sequence[Tallied]]
) -> None:
    """Note what the run has decided. `tallied`: by table, of all of its clusters."""
    kind = kinds()[run.kind]
    if run.topic_name or kind.in_scope or kind.decides_once:
        return
    for table, told in tallied.items():
        known = known_of(session.warehouse, table)
        is_ours = known.commit == decided_on.before[table]  # nobody else wrote since
        clusters = dict(known.clusters) if is_ours else {}
        for name in run.cluster_ids:
            ours = [one for one in told if one.cluster_id == name]
            instants = [one.next_due_at_ms for one in ours if one.next_due_at_ms is not None]
            clusters[name] = OfCluster(
                settings=_settings(session, run, name),
                decided_at_ms=run.at_ms,
                next_due_at_ms=min(instants, default=None),
                counts={one.decision: one.rows for one in ours},
                read=dict(decided_on.read),
            )
        commit = _commit(session.warehouse, table)
        write_note(_file(session.warehouse, table), Known(commit, run.run_id, clusters))


def _changed(session: Session, run: Run, due: Node, state: str) -> dict[str, Part]:
    """The files from which the list can come, by table; {} = any."""
    [decided] = [name for name in tables_of([due.name]) if name.startswith("decisions.")]
    known = known_of(session.warehouse, decided)
    entries = {name: known.clusters.get(name) for name in run.cluster_ids}
    if known.commit != _commit(session.warehouse, decided):
        return {}
    again = due.meta.get("decided_again")
    for name, one in entries.items():
        is_fresh = (
            one is not None
            and one.settings == _settings(session, run, name)
            and one.decided_at_ms <= run.at_ms
            and _is_before_due(one, run.at_ms)
            and not (again and one.counts.get(again))
        )
        if not is_fresh:
            return {}
    since: set[str] = set()
    for commit in {one.read[state] for one in entries.values() if one}:
        found = files_since(_folder(session.warehouse, state), commit)
        if found is None or len(found[0]) > _FEW:
            return {}
        since.update(found[0])
    key = tables()[decided].primary_key
    there, stored = (extents(open_latest(session.warehouse, it), key) for it in (state, decided))
    changed = [one for one in there if since.issuperset(one.paths)]
    near = [one for one in stored if any(map(one.may_share, changed))]
    return {state: Part(_paths(changed)), decided: Part(_paths(near))}


def _unrecorded(warehouse: Path, model: Node) -> dict[str, Part]:
    """What decisions have that are not recorded in history yet, by table.

    The run that noted what it knew had recorded its own, so they are in files that came since; and
    changed in no earlier run, so they are in few groups of rows of those. What that run decides
    again when it is finished is its own still."""
    found = {}
    for table in tables_of([model.name]):
        if table.startswith(f"{model.meta['changes_of']}."):
            known = known_of(warehouse, table)
            since = files_since(_folder(warehouse, table), known.commit)
            if since is not None:
                found[table] = Part(since[0], f"changed_in_run_id >= {sql_text(known.run_id)}")
    return found


def _paths(files: Sequence[Extent]) -> list[str]:
    return [path for one in files for path in one.paths]


def _settings(session: Session, run: Run, cluster: str) -> str:
    """What a stored decision is held against, and more."""
    rulesets = json.dumps(run.rulesets.get(cluster), sort_keys=True)
    return f"{session.settings.cluster(cluster).digest()} {rulesets}"


def _is_before_due(one: OfCluster, at_ms: int) -> bool:
    return one.next_due_at_ms is None or at_ms < one.next_due_at_ms


def _commit(warehouse: Path, table: str) -> Commit:
    return last_commit(_folder(warehouse, table))


def _folder(warehouse: Path, table: str) -> Path:
    return warehouse.joinpath(*table.split("."))


def _file(warehouse: Path, table: str) -> Path:
    return warehouse / DECIDED / f"{table}.json"
