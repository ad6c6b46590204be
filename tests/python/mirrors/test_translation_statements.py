"""How many Delta writes and statements a translation costs."""

from __future__ import annotations

from mirror_maker import Sync
from mirror_support import (
    CommitRecord,
    SyncRecord,
    commit_records,
    flow_settings,
    fold_syncs,
    with_flows,
)
from spark_support import fold_records, rows, statements, writes

from moldau.sessions.session import Session

AT_MS = 1_800_000_000_000
OF_A_TRANSLATION = {
    "decisions.offset_translations": 1,
    "decisions.target_offset_writes": 1,
    "state.checkpoints": 1,
    "history.checkpoints": 1,
    "history.decision_changes": 1,
    "state.runs": 1,
}


def test_a_translation_costs_as_many_statements_for_one_as_for_many(session: Session) -> None:
    """In a session whose views are made; neither syncs nor groups are counted."""
    cluster = "costs of mirrors"
    session = with_flows(session, {"costs": flow_settings(cluster, "elsewhere", "full_history")})
    told, written, known = [], [], 0
    for count in (1, 1, 40):  # the first run makes its views
        places = range(known, known + count)
        syncs = [SyncRecord(f"t{one}", Sync(100, 200 + one, one, AT_MS)) for one in places]
        commits_made = [CommitRecord(f"g{one}", f"t{one}", 150, AT_MS) for one in places]
        fold_syncs(session, {(cluster, "elsewhere"): syncs})
        fold_records(session, {cluster: commit_records(commits_made, known)})
        with statements() as given:
            told_of_writes = writes(session, "translate", cluster, AT_MS + known)
        told.append(len(given))
        written.append(told_of_writes)
        known += count
    emitted = "select count(*) from state.checkpoints where flow = 'costs'"
    assert rows(session, emitted) == [(known,)]
    assert written[1:] == [OF_A_TRANSLATION] * 2
    assert told[2] == told[1] <= 57, told
