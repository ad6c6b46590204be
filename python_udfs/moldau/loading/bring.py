"""The stage of a load that brings: from staged to raw and decoded rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from moldau.loading import remarks
from moldau.loading.new_rows import append_decoded, append_rows, count_appended, find_falls
from moldau.loading.refusals import Refusals
from moldau.loading.shapes import RECORDS, shapes
from moldau.loading.stage import Staged
from moldau.loading.tally import Tally
from moldau.records import families
from moldau.sessions.brought import Refusal
from moldau.warehouse.paths import REFUSED


@dataclass
class Loaded:
    run_id: str
    cluster_id: str
    kind: str
    rows_new: int
    rows_already_there: int
    refused: list[Refusal]
    """The first of them: all are in the file."""
    rows_refused: int = 0
    refused_file: Path | None = None
    # of its new records those that were not understood: topic -> decode status -> records
    decode_statuses: dict[str, dict[str, int]] = field(default_factory=dict)
    # all new records, likewise; those of a topic that nothing reads are `unknown_type`
    records: dict[str, dict[str, int]] = field(default_factory=dict)
    unknown_topics: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a person should know of it, a line each."""

    def counts(self) -> dict[str, int]:
        """For the run's row."""
        found = {
            "rows_new": self.rows_new,
            "rows_already_there": self.rows_already_there,
            "rows_refused": self.rows_refused,
        }
        for statuses in self.decode_statuses.values():
            for status, records in statuses.items():
                found[f"records_{status}"] = found.get(f"records_{status}", 0) + records
        return found


def bring(warehouse: Path, staged: Staged) -> Loaded:
    """Append to raw and decoded what is not there yet, as far as that was not done yet."""
    refused = Refusals(warehouse / REFUSED / f"{staged.run_id}.jsonl")
    unread = len(staged.refused) + staged.refused_more
    rows_new = count_appended(warehouse, staged)
    if rows_new:  # by a command that was killed: what differs was noted before
        refused.read_again()
    else:
        refused.begin_with(staged.refused_file, staged.refused, unread)
        if staged.rows:
            rows_new = append_rows(warehouse, staged, refused)
    tally = append_decoded(warehouse, staged) if rows_new else Tally()
    differ = refused.count - unread
    there = staged.rows - rows_new - differ
    unknown = sorted({topic for topic, *_ in staged.ranges if families.family_of(topic) is None})
    notes = [*staged.notes, *remarks.of_statuses(tally)]
    notes += remarks.of_topics(unknown, "their records are kept as bytes, and nothing reads them")
    if staged.kind == RECORDS.kind:
        notes += remarks.of_other_bytes(differ, there, staged.cluster_id)
    notes += remarks.of_snapshot(staged.refused_files, len(staged.files), staged.kind)
    if rises := shapes()[staged.kind].rises:
        notes += remarks.of_falls(*find_falls(staged, *rises), *rises)
    return Loaded(
        staged.run_id,
        staged.cluster_id,
        staged.kind,
        rows_new,
        there,
        refused.first,
        refused.count,
        refused.file,
        {topic: dict(counts) for topic, counts in tally.statuses.items()},
        {topic: dict(counts) for topic, counts in sorted(tally.records.items())},
        unknown,
        notes,
    )
