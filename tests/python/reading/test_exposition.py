"""What Prometheus is told: names, labels, and no more of them than the limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import Write
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from samples_support import GROUPS_MS

from moldau.cli.metrics import metrics
from moldau.errors import MoldauError
from moldau.metrics.exposition import SERIES, Warehouse, exposition
from moldau.metrics.families import READINGS
from moldau.metrics.jmx import jmx_name

HOSTILE = ['"', "\\", "\n", '"} 1\n# EOF\n', "'; drop", "\0", "\r", "🐘", "x" * 32_000, ""]
LAG = "kafka_consumergroup_group_lag"


def samples(text: bytes) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Metric -> labels and value of each series, as Prometheus's own library reads them."""
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text.decode()):
        found.setdefault(family.name, [])
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


@pytest.fixture
def lagging(warehouse: Path, write: Write, write_empty: Callable[..., None]) -> Path:
    """A group for each hostile name, each further behind than the one before."""
    write_empty("marts.group_lag")
    common = {"cluster_id": "east", "topic_name": "t", "partition_index": 0}
    groups = [{"cluster_id": "east", "group_id": name} for name in HOSTILE]
    write("state.groups", *({**g, "group_type": "classic", "group_state": "EMPTY"} for g in groups))
    write(
        "state.group_offsets",
        *(common | group | {"committed_offset": 90 - n} for n, group in enumerate(groups)),
    )
    end = {"high_watermark": 100, "log_start_offset": 5, "is_leader": True, "leader_epoch": 1}
    write("state.partition_states", common | end | {"topic_id": "id", "taken_at_ms": 1})
    return warehouse


def test_every_name_comes_back_as_it_is(lagging: Path) -> None:
    text, content_type = exposition(lagging)
    assert content_type.startswith("application/openmetrics-text; version=1.0.0")
    assert text.endswith(b"\n# EOF\n")
    common = {"cluster_name": "east", "topic": "t", "partition": "0"}
    expected = [(common | {"group": name}, 10.0 + n) for n, name in enumerate(HOSTILE)]
    assert samples(text)[LAG] == expected[::-1]


def test_the_text_is_that_of_prometheus_client(lagging: Path) -> None:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Warehouse(lagging, None, SERIES))
    assert exposition(lagging)[0] == generate_latest(registry)  # type: ignore[no-untyped-call]


def test_the_worst_are_kept_and_the_rest_is_counted(lagging: Path) -> None:
    found = samples(exposition(lagging, series=3)[0])
    assert [value for _, value in found[LAG]] == [19.0, 18.0, 17.0]
    assert [value for _, value in found["kafka_partition_latest_offset"]] == [100.0]
    left_out = {labels["metric"]: value for labels, value in found["moldau_series_left_out"]}
    assert left_out[LAG] == len(HOSTILE) - 3
    assert left_out["kafka_partition_latest_offset"] == 0
    assert found["moldau_series_limit"] == [({}, 3.0)]


def test_what_the_warehouse_lacks_has_no_metrics(lagging: Path, tmp_path: Path) -> None:
    """Only the tables under lag are there."""
    assert "moldau_mirror_groups" not in samples(exposition(lagging)[0])
    with pytest.raises(MoldauError, match="there is no warehouse"):
        exposition(tmp_path / "none")


def test_each_series_is_told_once(sampled: Path) -> None:
    found = samples(exposition(sampled, GROUPS_MS)[0])
    for name, series in found.items():
        told = Counter(tuple(sorted(labels.items())) for labels, _ in series)
        assert [labels for labels, count in told.items() if count > 1] == [], name
    names = [family.name for reading in READINGS for family in reading.families]
    assert len(names) == len(set(names))
    assert set(names) <= set(found)


def test_the_samples_show_what_nobody_else_tells(sampled: Path) -> None:
    found = samples(exposition(sampled, GROUPS_MS)[0])
    west = {"cluster_name": "west", "live": "true"}
    assert (west, 3.0) in found["moldau_expiring_offsets"]
    held = {"cluster_name": "west", "group": "c-vanish-off"}
    since = GROUPS_MS / 1000
    assert found["moldau_group_held_since_timestamp_seconds"] == [(held, since)]
    assert ({"flow": "a-to-b", "ready": "false"}, 2.0) in found["moldau_mirror_groups"]
    tier = {"cluster_name": "tiered", "topic": "tier-a", "partition": "0"}
    assert (tier, 1000.0) in found["kafka_server_brokertopicmetrics_deletetierlag"]
    assert {labels["kind"] for labels, _ in found["moldau_last_run_timestamp_seconds"]} >= {
        "sweep", "tiers", "translate"
    }  # fmt: skip


def test_names_are_those_of_the_jmx_exporter() -> None:
    assert jmx_name("kafka.server:type=BrokerTopicMetrics", "UploadTierLag") == (
        "kafka_server_brokertopicmetrics_uploadtierlag"
    )
    assert jmx_name("kafka.server:type=group-coordinator-metrics", "set-success-count") == (
        "kafka_server_group_coordinator_metrics_set_success_count"
    )


def test_the_verb_prints_the_same(sampled: Path) -> None:
    words = ["--warehouse", str(sampled), "--at", str(GROUPS_MS), "--series", "2"]
    told = CliRunner().invoke(metrics, words)
    assert told.output.encode() == exposition(sampled, GROUPS_MS, series=2)[0]
    refused = CliRunner().invoke(metrics, ["--series", "0"])
    assert refused.exit_code == 2
