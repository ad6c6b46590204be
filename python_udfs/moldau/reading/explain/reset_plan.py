"""Offsets as the file that `kafka-consumer-groups.sh --reset-offsets --from-file` takes.

Kafka: OffsetsUtils.parseResetPlan and CsvUtils: one offset per line, without a header. Lines are
split before they are read as CSV, so a group id that contains a line break cannot be written.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from moldau.engines.duckdb.delta_types import literal
from moldau.errors import MoldauError
from moldau.reading.explain.called import GROUPS, groups_called, told_of
from moldau.reading.explain.phrases import reason_text
from moldau.reading.tables.query import Tables, table_rows


@dataclass(frozen=True)
class Refused:
    """An offset that is not in the plan for another reason than the group's own place there."""

    group_id: str
    place: str
    offset: int | None
    reason_code: str

    @property
    def reason_text(self) -> str:
        code = self.reason_code
        return reason_text("target_offset_writes", code) or reason_text("offset_translations", code)


@dataclass(frozen=True)
class ResetPlan:
    text: str
    offsets: int
    groups: tuple[str, ...]
    left_out: tuple[str, ...]
    """Groups that the format cannot name."""
    refused: tuple[Refused, ...]


def reset_plan(warehouse: Path, flow: str, group: str | None, is_back: bool) -> ResetPlan:
    """What would be written for the groups of a flow's target; of its source if `is_back`.

    `group`: lines of `topic,partition,offset`, for this one; None = of
    `group,topic,partition,offset`, for all. MoldauError if nothing is known of the flow, or of the
    group in it.
    """
    table = "marts.failback_offsets" if is_back else "decisions.target_offset_writes"
    topic, offset = (
        ("topic_name", "translated_offset") if is_back else ("target_topic_name", "to_offset")
    )
    found = table_rows(warehouse, table, f"flow = {literal(flow)}").as_dicts()
    without = [] if is_back else _without_offer(warehouse, flow)
    if not found and not without:
        raise MoldauError(
            f"nothing is known of the flow {flow!r}: "
            + ("no group has an offset on its mirrored topics" if is_back else "is it configured, "
               "and has `moldau translate` run?")
        )  # fmt: skip
    if group is not None:
        found = [row for row in found if row["group_id"] == group]
        without = [one for one in without if one.group_id == group]
        if not found and not without:
            others = told_of(groups_called(Tables(warehouse, [GROUPS]), group))
            raise MoldauError(
                f"nothing is known of group {group[:200]!r} in the flow {flow!r}{others}"
            )
    wanted = [row for row in found if row["decision"] == "write"]
    left_out = {row["group_id"] for row in wanted if group is None and "\n" in row["group_id"]}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    rows = [row for row in wanted if row["group_id"] not in left_out]
    for row in rows:
        named = [] if group is not None else [row["group_id"]]
        writer.writerow([*named, row[topic], row["partition_index"], row[offset]])
    return ResetPlan(
        text=file.getvalue(),
        offsets=len(rows),
        groups=tuple(dict.fromkeys(row["group_id"] for row in rows)),
        left_out=tuple(sorted(left_out)),
        refused=tuple(
            Refused(
                row["group_id"],
                f"{row[topic]}-{row['partition_index']}",
                row[offset],
                row["reason_code"],
            )
            for row in found
            if row["decision"] == "skip" and not row["reason_code"].startswith("TARGET_")
        )
        + tuple(without),
    )


def _without_offer(warehouse: Path, flow: str) -> list[Refused]:
    """Partitions of which a group has a commit and no checkpoint: nothing of theirs is offered."""
    left_out = "('GROUP_FILTERED', 'TOPIC_FILTERED', 'NO_COMMIT')"
    blocked = (
        f"flow = {literal(flow)} and to_offset is null and upstream_offset is not null "
        f"and blocked_by is not null and blocked_by not in {left_out}"
    )
    rows = table_rows(warehouse, "marts.failover_partitions", blocked).as_dicts()
    return [
        Refused(
            row["group_id"],
            f"{row['target_topic_name']}-{row['partition_index']}",
            None,
            row["blocked_by"],
        )
        for row in rows
    ]
