"""moldau watching a real broker: what it said at each poll, and what the broker then wrote."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from broker_support import CLEANS_UP, Broker
from spark_support import fresh, rows

from moldau.collecting.collect import collect
from moldau.collecting.known import Known
from moldau.dumping.client_settings import client_settings
from moldau.dumping.source import LibrdkafkaSource, connected
from moldau.instants import now_ms
from moldau.runs.decide import decide
from moldau.runs.ingest import ingest
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings

OFFSETS = "__consumer_offsets"
CLUSTER = "watched"
COMMIT, STREAMS = 1, 17
METADATA_TYPES = (2, 3, 11, STREAMS)
UNCERTAIN, NOTHING = -2, -1
ELIGIBLE = "ELIGIBLE"
# how late the broker's own timers and writes may be on a machine that does other things as well
LATE_MS = 2_000
ANSWER_S = 20
OVER_WITHIN_S = 90

Partition = tuple[str, int]  # group, partition of the one topic that groups read


@dataclass(frozen=True)
class Poll:
    """What was read (partition of __consumer_offsets -> end), and what moldau said of that.

    at_ms: the instant that was decided at; eligibility was known at `said_at_ms`.
    eligibility: reason by group. sweeps: decision, and when it changes next.
    """

    ends: dict[int, int]
    at_ms: int
    said_at_ms: int
    eligibility: dict[str, str]
    sweeps: dict[str, tuple[str, int | None]]
    expiries: dict[Partition, int]


@dataclass(frozen=True)
class Record:
    group: str
    kind: int
    partition: int
    offset: int
    at_ms: int
    is_tombstone: bool
    committed_partition: int | None
    stored_epoch: int | None

    def is_seen_by(self, poll: Poll) -> bool:
        return poll.ends.get(self.partition, 0) > self.offset


@dataclass(frozen=True)
class Group:
    kind: str
    state: str
    epoch: int | None = None
    stored_epoch: int | None = None


@dataclass
class Watched:
    session: Session
    source: LibrdkafkaSource
    polls: list[Poll] = field(default_factory=list)

    def read(self) -> None:
        """Take in what is new."""
        loads = ingest(fresh(self.session), CLUSTER, self.source, [OFFSETS], pytest.fail)
        assert not any(loaded.rows_refused for loaded in loads)

    def poll(self) -> Poll:
        """Read, and foretell the next cycle and the next sweep."""
        self.read()
        session = fresh(self.session)
        at_ms = now_ms()
        decide(session, "cycle", [CLUSTER], at_ms, is_dry_run=False)
        said_at_ms = now_ms()
        decide(session, "sweep", [CLUSTER], at_ms, is_dry_run=False)
        decided = "select {} from decisions.{}"
        eligibility = decided.format("group_id, reason_code", "cleanup_eligibility")
        sweeps = decided.format("group_id, decision, next_due_at_ms", "group_sweeps")
        expiries = decided.format("group_id, partition_index, expires_at_ms", "offset_expirations")
        poll = Poll(
            dict(rows(session, "select partition_index, next_offset from state.log_positions")),
            at_ms,
            said_at_ms,
            dict(rows(session, eligibility)),
            {group: (decision, due_ms) for group, decision, due_ms in rows(session, sweeps)},
            {(group, index): at_ms for group, index, at_ms in rows(session, expiries)},
        )
        self.polls.append(poll)
        return poll

    def read_until_cleared(self, group: str) -> Deletion:
        """Reading is quicker than foretelling."""
        end = time.monotonic() + OVER_WITHIN_S
        while (found := self.deletions().get(group)) is None:
            assert time.monotonic() < end, f"{group} still has its description"
            self.read()
        return found

    def poll_until_gone(self, groups: Iterable[str], within_s: float = OVER_WITHIN_S) -> None:
        """Groups that are there already."""
        end = time.monotonic() + within_s
        while left := self.groups().keys() & set(groups):
            assert time.monotonic() < end, f"still there: {sorted(left)}"
            self.poll()

    def groups(self) -> dict[str, Group]:
        """Those that are not deleted, as their records tell."""
        sql = (
            "select group_id, group_type, group_state, group_epoch, "
            "stored_description_topology_epoch from state.groups where not is_deleted"
        )
        return {group: Group(*told) for group, *told in rows(fresh(self.session), sql)}

    def listed_by(self, broker: Broker) -> dict[str, Group]:
        """As the coordinators list them, by `moldau collect`."""
        found = collect(client_settings(broker.plaintext, None), ANSWER_S, Known())
        return {
            row["group_id"]: Group(row["group_type"], row["group_state"])
            for row in found.rows["group_listings"]
        }

    @property
    def log(self) -> list[Record]:
        sql = (
            "select group_id, record_type, partition_index, log_offset, recorded_at_ms, "
            "is_tombstone, committed_partition_index, stored_description_topology_epoch "
            "from decoded.group_records order by partition_index, log_offset"
        )
        return [Record(*row) for row in rows(fresh(self.session), sql)]

    def offset_tombstones(self) -> dict[Partition, Record]:
        return {
            (record.group, record.committed_partition or 0): record
            for record in self.log
            if record.kind == COMMIT and record.is_tombstone
        }

    def group_tombstones(self) -> dict[str, Record]:
        return {
            record.group: record
            for record in self.log
            if record.kind in METADATA_TYPES and record.is_tombstone
        }

    def deletions(self) -> dict[str, Deletion]:
        """Of the descriptions that the broker's clean-up cycle has deleted."""
        logs: dict[str, list[Record]] = {}
        for record in self.log:
            logs.setdefault(record.group, []).append(record)
        found = {group: deletion_in(log) for group, log in logs.items()}
        return {group: deletion for group, deletion in found.items() if deletion}


def deletion_in(log: list[Record]) -> Deletion | None:
    """By the records of one group, which stored one description, and was not read again."""
    metadata = [record for record in log if record.kind == STREAMS]
    stored = [record for record in metadata if record.stored_epoch == 0]
    if not stored:
        return None
    expired = [record for record in log if record.kind == COMMIT and record.is_tombstone]
    ready = max(stored + expired, key=lambda record: record.offset)
    acts = [record for record in metadata if record.offset > ready.offset]
    if len(acts) < 2:
        return None
    barrier, clear, *gone = acts
    assert (barrier.stored_epoch, clear.stored_epoch) == (UNCERTAIN, NOTHING)
    return Deletion(ready, barrier, clear, gone[0] if gone else None)


@dataclass(frozen=True)
class Deletion:
    """`ready`: from here on nothing but the description holds the group; then the broker's acts."""

    ready: Record
    barrier: Record
    clear: Record
    gone: Record | None

    def was_announced(self, polls: list[Poll]) -> bool:
        """Some poll had called the description ELIGIBLE when the broker set out to delete it."""
        return any(
            poll.said_at_ms < self.barrier.at_ms and poll.eligibility[self.ready.group] == ELIGIBLE
            for poll in self.polls_before(polls)
        )

    def polls_before(self, polls: list[Poll]) -> list[Poll]:
        """That saw the group ready, and nothing of its end."""
        return [p for p in polls if self.ready.is_seen_by(p) and not self.barrier.is_seen_by(p)]

    def polls_between(self, polls: list[Poll]) -> list[Poll]:
        """That saw the description cleared, and the group still there."""
        return [
            p
            for p in polls
            if self.clear.is_seen_by(p) and not (self.gone and self.gone.is_seen_by(p))
        ]


@contextmanager
def watching(
    folder: Path, broker: Broker, settings: Mapping[str, str] = CLEANS_UP
) -> Iterator[Watched]:
    """A warehouse of its own in `folder`, under these settings of the broker's."""
    config = folder / "moldau.yml"
    lines = [f"    {name}: {value}\n" for name, value in settings.items()]
    config.write_text(
        f"engine: duckdb\nclusters:\n  {CLUSTER}:\n    ruleset: {{groups: kafka_4_4}}\n"
        + "".join(lines)
    )
    source = connected(client_settings(broker.plaintext, None), ANSWER_S, pytest.fail)
    with open_session(load_settings(config, folder / "warehouse"), "pytest") as session:
        yield Watched(session, source)
