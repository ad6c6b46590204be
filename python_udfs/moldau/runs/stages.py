"""The stages of a run, in their order; a kind of run has some of them.

bring (files to raw and decoded), fold, call, decide, apply, close. A stage that a killed run has
behind it is passed over, and so is one that has nothing to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.declared import kinds
from moldau.loading.bring import Loaded, bring
from moldau.loading.fold import fold, folds_of
from moldau.loading.stage import Staged
from moldau.runs.apply import apply
from moldau.runs.call import call
from moldau.runs.decided import count_decided
from moldau.runs.known import look_at_changes
from moldau.runs.owed import is_owed
from moldau.runs.standstill import Decided, note_standstills, versions_read
from moldau.sessions import journal
from moldau.sessions.closing import close_run
from moldau.sessions.faults import die_at
from moldau.sessions.open_run import open_run, settings_models
from moldau.sessions.run import Run

if TYPE_CHECKING:
    from moldau.sessions.session import Session

OF_A_LOAD = ("bring", "fold", "close")
OF_DECISIONS = ("fold", "call", "decide", "apply", "close")


def carry_out(session: Session, run: Run) -> Loaded | None:
    """Carry a run that has a journal to its row. Gives what a load loaded."""
    stages = Stages(session, run)
    for stage in OF_A_LOAD if run.brought else OF_DECISIONS:
        session.tell(stage, stages.rows())
        getattr(stages, stage)()
    return stages.loaded


class Stages:
    """Of one run."""

    def __init__(self, session: Session, run: Run) -> None:
        self.session, self.run = session, run
        self.loaded: Loaded | None = None
        self._settings: list[str] = []  # the models that record them, where they are others
        self._is_due = False  # there is something to do, for which an engine was opened
        self._read: dict[str, int | None] = {}  # versions of the tables that were decided on
        self._decided: dict[str, Decided] = {}

    def rows(self) -> int | None:
        """That it brings, or has decided."""
        return self.run.brought.rows if self.run.brought else self.run.counts.get("decided")

    def bring(self) -> None:
        assert self.run.brought
        folder = journal.staged_folder(self.session.warehouse, self.run.run_id)
        self._staged = Staged.of(self.run.brought, folder)
        self.loaded = bring(self.session.warehouse, self._staged)
        self.run.counts = self.loaded.counts()
        die_at("after_bring")

    def fold(self) -> None:
        """What was loaded, and what is folded anew for other settings."""
        session, run = self.session, self.run
        models = [] if run.is_decided else settings_models(session, run)
        if self.loaded:
            models += folds_of(session, self._staged, self.loaded)
            if models:
                open_run(session, run, self._staged.bytes())
                fold(session, self._staged, self.loaded, models)
                die_at("after_fold")
            return
        is_due = run.is_decided or models or not kinds()[run.kind].decides_once
        if not (is_due or is_owed(session, run)):
            run.counts = {"decided": 0}
            return
        self._is_due = True
        open_run(session, run)
        # what is folded for other settings is read by lists, which wait for no barrier
        if any(name != "record_settings" for name in models):
            session.run_models(*models)
            models = []
        self._settings = models
        die_at("after_fold")

    def call(self) -> None:
        if not self._is_due or self.run.is_decided:
            return
        models = self.session.models("decide", self.run.kind)
        names = [model.name for model in models if model.decides]
        self._read = versions_read(self.session, names)
        call(self.session, self.run)

    def decide(self) -> None:
        session, run = self.session, self.run
        if not self._is_due:
            return
        if not run.is_decided:
            names = [model.name for model in session.models("decide", run.kind)]
            decided_on = look_at_changes(session, run)
            session.run_models(*self._settings, *names)
            run.has_changes = False
            self._decided = count_decided(session, run, decided_on)
            if not kinds()[run.kind].settles:
                note_standstills(session, run, self._read, self._decided)
        # decided once: what is applied changes the state that the decisions were made on
        journal.note(session.warehouse, run)
        die_at("after_decide")

    def apply(self) -> None:
        session, run = self.session, self.run
        if not self._is_due:
            return
        apply(session, run)
        if self._decided and kinds()[run.kind].settles:
            note_standstills(session, run, self._read, self._decided)
        if run.has_changes:  # an earlier version noted a run before it recorded them
            models = session.models("decide", run.kind)
            session.run_models(*(model.name for model in models if not model.decides))

    def close(self) -> None:
        die_at("before_run_row")
        close_run(self.session, self.run)
        journal.forget(self.session.warehouse, self.run.run_id)
