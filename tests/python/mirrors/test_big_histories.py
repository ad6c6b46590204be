"""A history that is big is folded in parts, and only where a load can change it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from full_history_reference import fold
from mirror_maker import Sync
from mirror_support import SyncRecord, flow_settings, fold_syncs, with_flows
from spark_support import change, fresh, in_spark, rows, statements

from moldau.sessions.session import Session

pytestmark = pytest.mark.spark
FLOW, SOURCE, TARGET = "big-flow", "big-source", "big-target"
NOISE = "array_join(transform(sequence(1, 20), i -> sha2(concat(id, '-', i), 256)), '')"
# a replay from 150 that waits, until it has come as far behind 200 as was written unseen
SYNCS = [
    Sync(0, 0, 0, 1),
    Sync(100, 100, 1, 2),
    Sync(200, 200, 3, 4),
    Sync(150, 300, 4, 5),
    Sync(260, 410, 5, 6),
    Sync(400, 550, 6, 7),
]
LOADS = (4, 5, 6)  # how many of them are known after each
OTHER = SyncRecord("other", Sync(7, 7, 2, 3))  # the record before the third, loaded with the fourth


@pytest.fixture(scope="module")
def ballast(session: Session) -> Iterator[Session]:
    """Of another flow, and behind all of ours: 26 MB that do not compress."""
    change(
        session,
        "insert into state.offset_syncs by name select 'ballast' as flow, 0 as syncs_incarnation, "
        f"1000000 + id as sync_log_offset, {NOISE} as topic_name, 0 as partition_index, "
        "id as upstream_offset, id as downstream_offset, 0 as incarnation, "
        "0 as parity_incarnation, 0 as segment_index, false as gap_before, true as is_admitted, "
        "1L as recorded_at_ms, '00000000-load' as changed_in_run_id from range(20000) as r(id)",
    )
    yield session
    change(session, "delete from state.offset_syncs where flow in ('ballast', 'big-flow')")


def test_a_load_changes_what_it_can_change(ballast: Session) -> None:
    flows = {FLOW: flow_settings(SOURCE, TARGET, "full_history")}
    session = in_spark(with_flows(ballast, flows))
    known = 0
    for count in LOADS:
        brought = [SyncRecord("t", sync) for sync in SYNCS[known:count]]
        brought += [OTHER] if known == LOADS[0] else []
        known = count
        with statements() as given:
            fold_syncs(session, {(SOURCE, TARGET): brought})
        session = fresh(session)
        found = rows(
            session,
            "select sync_log_offset, incarnation, segment_index, is_admitted, gap_before "
            f"from state.offset_syncs where flow = '{FLOW}' and topic_name = 't' order by 1",
        )
        gaps = [3] if known == LOADS[0] else []
        assert found == [
            (one.log_offset, one.incarnation, one.segment, one.is_admitted, one.gap_before)
            for one in fold(SYNCS[:known], missing_before=gaps)
        ]
        merges = [text for text in given if "merge into state.offset_syncs" in text]
        assert len(merges) == 1
        assert "t.sync_log_offset between " in merges[0]
    assert all(is_admitted for *_, is_admitted, _ in found)
