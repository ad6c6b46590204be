"""One run of a kind that decides, and applies what it decided: cycle, sweep, tiers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.compiled.graph import tables_under
from moldau.domains import kinds
from moldau.literals import literal
from moldau.runs.apply import applies_to, apply
from moldau.runs.call import call
from moldau.runs.scope import scope_of
from moldau.runs.standstill import Decided, note_standstills, versions_read
from moldau.sessions.closing import close_run
from moldau.sessions.faults import die_at, fault
from moldau.sessions.run import Run, next_run_id, open_run, settings_models
from moldau.sessions.unfinished import is_closed, setting_aside
from moldau.warehouse.ask import ask_rows, has_rows, sql_text
from moldau.warehouse.contracts import tables
from moldau.warehouse.notes import read_note, write_note
from moldau.warehouse.paths import RUNS

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def decide(
    session: Session, kind: str, clusters: Sequence[str], at_ms: int, is_dry_run: bool
) -> Run:
    """Decide at one instant for these clusters, or for every known one, and write the run's row.

    What is decided is applied to clusters under `authority: moldau`, unless `is_dry_run`.
    Raises MoldauError for a cluster that is unknown.
    """
    fault()
    scope = scope_of(session, clusters)
    run = Run(next_run_id(session, kind), kind, scope, at_ms, is_dry_run=is_dry_run)
    _note(session, run)
    _finish(session, run)
    return run


def finish_interrupted_runs(session: Session) -> list[Run]:
    """Finish the run that a killed command left behind, under its own run_id and instant.

    One that cannot be finished is set aside: the next of its kind decides anew. Gives the runs
    that it brought to an end.
    """
    finished = []
    for journal in sorted(_journals(session).glob("*.json")):
        with setting_aside(session, journal) as cluster_ids:
            run = read_note(journal, Run)
            cluster_ids += run.cluster_ids
            if is_closed(session.warehouse, run.run_id):
                journal.unlink()  # killed after its row was written
            else:
                _finish(session, run)
                finished.append(run)
    return finished


def _journals(session: Session) -> Path:
    return session.warehouse / RUNS


def _journal(session: Session, run: Run) -> Path:
    return _journals(session) / f"{run.run_id}.json"


def _is_owed(session: Session, run: Run) -> bool:
    """Whether anything was loaded since the last run of this kind, or may be left to apply."""
    done = ask_rows(
        session.warehouse,
        "state.runs",
        f"select run_id, cluster_ids from t where kind = {sql_text(run.kind)} "
        "and status = 'succeeded' and not is_dry_run",
    )
    last = min(max((one for one, of in done if name in of), default="") for name in run.cluster_ids)
    names = [model.name for model in session.models("decide", run.kind)]
    raw = [name for name in tables_under(names) if name.startswith("raw.")]
    is_loaded = f"run_id > {sql_text(last)}"
    return any(has_rows(session.warehouse, table, is_loaded) for table in raw) or (
        not run.is_dry_run and _has_moved(session, run, last)
    )


def _has_moved(session: Session, run: Run, last: str) -> bool:
    """Whether what this kind of run follows has changed since the run `last`."""
    applied = [name for name in run.cluster_ids if applies_to(session, run.kind, name)]
    if not applied:
        return False
    within = f"cluster_id in ({', '.join(map(sql_text, applied))})"
    changed = f"{within} and changed_in_run_id > {sql_text(last)}"
    return any(
        has_rows(session.warehouse, kept, within) and has_rows(session.warehouse, table, changed)
        for kept, table in kinds()[run.kind].follows.items()
    )


def _note(session: Session, run: Run) -> None:
    """Note on disk how far the run is, for the command after one that is killed."""
    write_note(_journal(session, run), run)


def _finish(session: Session, run: Run) -> None:
    """Decide, apply, write the run's row; a stage that has nothing to do is left out."""
    settings = [] if run.is_decided else settings_models(session, run)
    is_due = run.is_decided or settings or not kinds()[run.kind].decides_once
    if is_due or _is_owed(session, run):
        _carry_out(session, run, settings)
    else:
        run.counts = {"decided": 0}
    close_run(session, run)
    _journal(session, run).unlink()


def _carry_out(session: Session, run: Run, settings: list[str]) -> None:
    """`settings`: the models that record them, if they are others than those in force."""
    open_run(session, run)
    decided: dict[str, Decided] = {}
    if not run.is_decided:
        # what is folded for other settings is read by lists, which wait for no barrier
        if any(name != "record_settings" for name in settings):
            session.run_models(*settings)
            settings = []
        models = session.models("decide", run.kind)
        read = versions_read(session, [model.name for model in models if model.decides])
        names = [model.name for model in models]
        call(session, run)
        session.run_models(*settings, *names)
        run.has_changes = False
        decided, decided_now = _decided(session, run)
        counts = sum((one.counts for one in decided.values()), Counter())
        run.counts = {"decided": decided_now, **counts}
        run.is_decided = True
        if not kinds()[run.kind].settles:
            note_standstills(session, run, read, decided)
    # decided once: what is applied changes the state that the decisions were made on
    _note(session, run)
    die_at("after_decide")
    apply(session, run)
    if decided and kinds()[run.kind].settles:
        note_standstills(session, run, read, decided)
    if run.has_changes:  # an earlier version noted a run before it recorded them
        models = session.models("decide", run.kind)
        session.run_models(*(model.name for model in models if not model.decides))
    die_at("before_run_row")


def _decided(session: Session, run: Run) -> tuple[dict[str, Decided], int]:
    """What each cluster's subjects are decided, and how many of them by this run."""
    found = defaultdict(Decided, {name: Decided() for name in run.cluster_ids})
    scope = f"cluster_id in ({', '.join(map(literal, run.cluster_ids))})"
    if in_scope := kinds()[run.kind].in_scope:
        scope = in_scope(session.settings, run.cluster_ids)
    decided_now = 0
    if kinds()[run.kind].decides_once:
        scope += f" and run_id = {literal(run.run_id)}"
    for model in filter(lambda model: model.decides, session.models("decide", run.kind)):
        comes_due = "next_due_at_ms" in {c.name for c in tables()[model.table].columns}
        due = "min(next_due_at_ms)" if comes_due else "null"
        counted_as = model.meta.get("counted_as", "")
        for cluster, decision, subjects, now, next_due_at_ms in session.sql(
            f"select cluster_id, decision, count(*), count_if(run_id = {literal(run.run_id)}), "
            f"{due} from {model.table} where {scope} "
            "group by cluster_id, decision order by decision"
        ):
            found[cluster].add(counted_as + decision, subjects, next_due_at_ms)
            decided_now += now
    return found, decided_now
