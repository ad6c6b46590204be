"""A warehouse filled from the samples of every domain, embedded: decided, and nothing applied."""

from __future__ import annotations

from pathlib import Path

from moldau.project import SAMPLES
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings

SETTINGS = """
clusters:
  east: {}
  west:
    ruleset: {groups: kafka_4_4}
    offsets.retention.minutes: 1
    offsets.retention.check.interval.ms: 1000
    group.streams.topology.description.plugin.class: Plugin
flows:
  a-to-b: {source: A, target: B, topics: "orders.*"}
producers:
  default: {metadata.evict.ms: 8000, metadata.max.idle.ms: 8000, metadata.max.age.ms: 10000}
"""
# when the samples were taken
GROUPS_MS, TIERS_MS = 1_795_247_782_363, 1_795_247_998_738
MIRRORS_MS, PRODUCERS_MS = 1_795_248_279_083, 1_795_770_834_000


def fill(warehouse: Path) -> None:
    """Groups of two brokers, a mirror while it is down, producers, tiered topics."""
    warehouse.mkdir(parents=True)
    config = warehouse / "moldau.yml"
    config.write_text(SETTINGS)
    with open_session(load_settings(config, warehouse, engine="duckdb"), "pytest") as session:
        for cluster in ("east", "west"):
            _load(session, cluster, f"{cluster}/__consumer_offsets")
        _load(session, "west", "west/open_transactions", "open_transactions")
        _load(session, "A", "mirrored/A.__consumer_offsets")
        _load(session, "A", "mirrored/A.mm2-offset-syncs.B.internal")
        _load(session, "B", "mirrored/B.__consumer_offsets")
        _load(session, "B", "mirrored/B.A.checkpoints.internal")
        _load(session, "logged", "producers/producer_events", "producer_events")
        for kind in ("topic_configs", "partition_states", "leader_epochs", "local_segments"):
            _load(session, "tiered", f"tiers/{kind}", kind)
        _load(session, "tiered", "tiers/__remote_log_metadata")
        for kind, at_ms in (
            ("cycle", GROUPS_MS),
            ("sweep", GROUPS_MS),
            ("tiers", TIERS_MS),
            ("translate", MIRRORS_MS),
            ("metadata", PRODUCERS_MS),
        ):
            decide(session, kind, [], at_ms, is_dry_run=False)


def _load(session: Session, cluster: str, file: str, kind: str = "records") -> None:
    load(session, [SAMPLES / f"{file}.jsonl"], cluster, kind)
