"""Staging reads files and starts no Spark."""

from __future__ import annotations

from pathlib import Path

from moldau.loading.shapes import shapes
from moldau.loading.stage import Staged, stage
from moldau.settings.limits import Limits

SAMPLE = Path(__file__).resolve().parents[3] / "samples" / "west" / "open_transactions.jsonl"


def test_a_snapshot_is_whole_or_nothing(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(SAMPLE.read_text().splitlines()[0] + "\nnot json\n")
    kind = "open_transactions"
    whole = Staged("00000001-load", kind, "west", folder=tmp_path / "whole")
    stage(whole, [SAMPLE], shapes()[kind], Limits())
    assert whole.rows == len(SAMPLE.read_text().splitlines())
    part = Staged("00000002-load", kind, "west", folder=tmp_path / "part")
    stage(part, [SAMPLE, bad], shapes()[kind], Limits())
    assert (part.rows, part.refused_files) == (0, [str(bad)])
    assert list(part.rows_folder.glob("*")) == []
