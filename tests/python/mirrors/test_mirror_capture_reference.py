"""The reference answers as the real MirrorMaker 2 of the capture did."""

from __future__ import annotations

import full_history_reference as full
import mirror_maker as maker
import pytest
from mirror_capture import STAGES, SYNCS_AT_START, captured_checkpoints, captured_syncs


@pytest.mark.parametrize("stage", STAGES)
def test_the_sparse_store_gives_each_checkpoint(stage: str) -> None:
    """2.2, 2.3: what MM2 last emitted for every group, from the syncs of the topic."""
    syncs = captured_syncs(stage)
    for (_, place), checkpoint in captured_checkpoints(stage).items():
        store = maker.kafka_store("sparse_reads_checkpoints", syncs[place], SYNCS_AT_START[stage])
        assert store.translate(checkpoint.upstream) == checkpoint.downstream


@pytest.mark.parametrize("stage", STAGES)
def test_a_sync_explains_each_checkpoint(stage: str) -> None:
    """4.8; and full history is never behind (5.9, case 142)."""
    folded = {place: full.fold(syncs) for place, syncs in captured_syncs(stage).items()}
    lost = 0
    for (_, place), checkpoint in captured_checkpoints(stage).items():
        made_by = full.explain(folded[place], checkpoint.upstream, checkpoint.downstream)
        assert made_by is not None
        answer = full.translate(folded[place], checkpoint.upstream).offset
        assert answer is not None and answer >= checkpoint.downstream
        lost += full.lost_precision(folded[place], checkpoint.upstream, made_by)
    assert lost > 900


def test_full_history_translates_what_mm2_sends_to_the_start() -> None:
    """The capture's differences, C: g-mid at 700 is at 700 and not at 1, at 900 at 710."""
    folded = full.fold(captured_syncs("3-restarted")["orders", 0])
    assert [full.translate(folded, g).offset for g in (700, 900)] == [700, 710]
