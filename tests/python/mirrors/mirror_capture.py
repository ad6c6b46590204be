"""What a real MirrorMaker 2 wrote, stage by stage, as the reference takes it."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from mirror_maker import Checkpoint, Sync

CAPTURE = Path(__file__).parents[2] / "fixtures" / "captures" / "mirror-lag0"
STAGES = ("1-first-run", "2-mm2-down", "3-restarted")
# MM2 was started again on the syncs of stage 2
SYNCS_AT_START = {"1-first-run": 0, "2-mm2-down": 0, "3-restarted": 158}

Place = tuple[str, int]  # source topic, partition


def read(stage: str, name: str) -> list[dict[str, Any]]:
    lines = (CAPTURE / stage / f"{name}.decoded.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def captured_syncs(stage: str) -> dict[Place, list[Sync]]:
    found: dict[Place, list[Sync]] = defaultdict(list)
    for row in read(stage, "A.mm2-offset-syncs.B.internal"):
        sync = Sync(row["upstream"], row["downstream"], row["offset"], row["timestamp_ms"])
        found[row["topic"], row["topic_partition"]].append(sync)
    return found


def captured_checkpoints(stage: str) -> dict[tuple[str, Place], Checkpoint]:
    """The last one of each group and source partition."""
    found = {}
    for row in read(stage, "B.A.checkpoints.internal"):
        place = (row["topic"].removeprefix("A."), row["topic_partition"])
        found[row["group"], place] = Checkpoint(row["upstream"], row["downstream"])
    return found
