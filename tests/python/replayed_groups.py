"""Small logs of one group each, with what Kafka's own classes made of them.

`replayed_groups.jsonl` has small logs of one group each, and what GroupCoordinatorShard of Kafka
4.4.0, asked, made of them: the group after its replay (null = there is none), and what its sweep
removed 90 days later (null = it threw: a share group holds an offset). A group is called after its
records: types, `x` = tombstone, `c` and `d` = commits on t and u, `s` = a classic group without
protocol type and members; or after protocol type, members and value version.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spark_support import Record

FIXTURE = Path(__file__).parents[1] / "fixtures" / "replayed_groups.jsonl"
REPLAYED = {case["group"]: case for case in map(json.loads, FIXTURE.read_text().splitlines())}


def replay_of(case: dict[str, Any]) -> list[Record]:
    keys = [[None if text is None else bytes.fromhex(text) for text in r] for r in case["records"]]
    return [Record(0, offset, 0, *texts) for offset, texts in enumerate(keys)]
