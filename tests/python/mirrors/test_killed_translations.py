"""A load of syncs and a translation that die at any point end like undisturbed ones.

They die in this process: what is in memory is lost, what is written stays. The command after it
goes on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from mirror_support import CheckpointRecord, flow_settings, fold_checkpoints, with_flows
from spark_support import Killed, contents, dying_at, fresh, rows

from moldau.project import SAMPLES
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.runs.resume import finish_interrupted
from moldau.sessions.session import Session

AT_MS = 1_800_000_000_000
FILES = SAMPLES / "mirrors"
FOLDED = ("fold_offset_syncs", "fold_mirrored_partitions", "fold_checkpoints")
DEATHS = ("after_decide", "before_clear", "after_clear", "before_run_row")
CALM, KILLED = "calm-source", "killed-source"
# the columns in which two runs differ
TABLES = {
    "state.offset_syncs": ("changed_in_run_id",),
    "state.mirrored_partitions": ("changed_in_run_id",),
    "state.checkpoints": ("changed_in_run_id", "emitted_at_ms"),
    "history.checkpoints": ("run_id", "emitted_at_ms"),
    "decisions.offset_translations": ("run_id", "changed_in_run_id", "cluster_id", "settings_hash"),
    "decisions.target_offset_writes": (
        *("run_id", "changed_in_run_id", "cluster_id", "settings_hash"),
    ),
}


def dying_in_fold(count: int) -> Callable[[pytest.MonkeyPatch], None]:
    """The first models that fold syncs have written, the others have not begun."""

    def dies(patch: pytest.MonkeyPatch) -> None:
        run_models = Session.run_models

        def run_the_first(session: Session, *names: str) -> None:
            if FOLDED[0] not in names:
                return run_models(session, *names)
            run_models(session, *(name for name in names if name not in FOLDED[count:]))
            raise Killed

        patch.setattr(Session, "run_models", run_the_first)

    return dies


def load_dying(session: Session, file: Path, cluster: str) -> None:
    """Dies after each of the models in turn, and is finished by the last command."""
    for count in range(1, len(FOLDED)):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
            dying_in_fold(count)(patch)
            if count == 1:
                load(fresh(session), [file], cluster, "records")
            else:
                finish_interrupted(fresh(session))
    finish_interrupted(fresh(session))


def translate_dying(session: Session, cluster: str) -> None:
    with dying_at(DEATHS[0]):
        decide(fresh(session), "translate", [cluster], AT_MS, is_dry_run=False)
    for point in DEATHS[1:]:
        with dying_at(point):
            finish_interrupted(fresh(session))
    finish_interrupted(fresh(session))


Told = dict[str, dict[str, list[str]]]


@pytest.fixture(scope="module")
def told(session: Session) -> Told:
    """Table -> source -> its rows, after two loads and two translations."""
    # as in the other tests of this folder, sources share one target
    flows = {one: flow_settings(one, "west", "full_history") for one in (CALM, KILLED)}
    session = with_flows(session, flows)
    emitted = [CheckpointRecord("at-500", f"{one}.orders", 500, 1) for one in (CALM, KILLED)]
    for one, checkpoint in zip((CALM, KILLED), emitted, strict=True):
        fold_checkpoints(session, {(one, "west"): [checkpoint]})
    commits, syncs = (FILES / f"{name}.1.jsonl" for name in ("commits", "syncs"))
    for one in (CALM, KILLED):
        load(session, [commits, syncs], one, "records")
    decide(session, "translate", [CALM, KILLED], AT_MS, is_dry_run=False)
    # what goes on from there
    commits, syncs = (FILES / f"{name}.2.jsonl" for name in ("commits", "syncs"))
    load(session, [commits, syncs], CALM, "records")
    decide(session, "translate", [CALM], AT_MS, is_dry_run=False)
    load(session, [commits], KILLED, "records")
    load_dying(session, syncs, KILLED)
    translate_dying(session, KILLED)
    return {table: _contents(session, table, hidden) for table, hidden in TABLES.items()}


def _contents(session: Session, table: str, hidden: Sequence[str]) -> dict[str, list[str]]:
    """Names of flows and mirrored topics tell of the source, and are told apart no more."""
    told = contents(session, table, hidden, f"flow in ('{CALM}', '{KILLED}')", by="flow")
    return {
        flow: [row.replace(flow, "source") for row in several] for flow, several in told.items()
    }


@pytest.mark.parametrize("table", TABLES)
def test_what_was_killed_ends_like_what_was_not(told: Told, table: str) -> None:
    assert told[table][KILLED] == told[table][CALM]
    assert told[table][KILLED]


def test_each_checkpoint_is_emitted_once(told: Told, session: Session) -> None:
    emitted: list[Any] = rows(
        session,
        "select flow, group_id, target_topic_name, partition_index, run_id "
        f"from history.checkpoints where flow in ('{CALM}', '{KILLED}')",
    )
    assert set(Counter(emitted).values()) == {1}
    changes: list[Any] = rows(
        session,
        "select cluster_id, subject, run_id from history.decision_changes "
        f"where cluster_id in ('{CALM}', '{KILLED}')",
    )
    assert set(Counter(changes).values()) == {1}
    assert len({cluster for cluster, *_ in changes}) == 2
    counted = Counter(cluster for cluster, *_ in changes)
    assert counted[CALM] == counted[KILLED]
