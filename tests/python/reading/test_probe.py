"""`moldau translate --probe`: any offset on the other cluster, by the SQL that decides."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rows_support import Write

from moldau.cli import moldau
from moldau.errors import MoldauError
from moldau.reading.explain.probe import REASONED, parse_probe, translate_probes
from moldau.reading.tables.views import tables_under
from moldau.settings import Settings, load_settings
from moldau.warehouse.contracts import tables
from moldau.warehouse.paths import SEEDED
from moldau.warehouse.seeds import seed

NOON = 1_756_728_000_000  # 2025-09-01T12:00:00Z
CONFIG = """
flows:
  plain: {source: east, target: west, topics: "orders.*"}
  anchored: {source: east, target: west, anchored: true}
  waiting: {source: east, target: north, ruleset: full_history}
  eager: {source: east, target: north, ruleset: full_history_max}
  clamped: {source: east, target: pond, topics: clamped, clamp_first: true}
"""
# (100 -> 200), (201 -> 301) of the specification, and a replay of the first that has not caught up
SPAN = [(0, 100, 200), (1, 201, 301)]


def sync(flow: str, position: int, u: int, d: int, **more: Any) -> dict[str, Any]:
    return {
        "flow": flow, "sync_log_offset": position, "topic_name": "orders", "upstream_offset": u,
        "downstream_offset": d, "is_admitted": True, "recorded_at_ms": NOON,
        "previous_sync_log_offset": position - 1 if position else None, **more,
    }  # fmt: skip


def partition(flow: str, **more: Any) -> dict[str, Any]:
    return {"flow": flow, "topic_name": "orders"} | more


@pytest.fixture
def settings(write: Write, warehouse: Path, tmp_path: Path) -> Settings:
    read = tables_under([REASONED]) | {"state.offset_syncs"}
    for name in sorted(read | {name for name in tables() if name.startswith("seeds.")}):
        write(name)
    (warehouse / SEEDED).parent.mkdir(parents=True, exist_ok=True)
    seed(warehouse)
    for flow in ("plain", "anchored", "waiting", "eager"):
        write("state.offset_syncs", *(sync(flow, *one) for one in SPAN))
        write("state.mirrored_partitions", partition(flow, sync_log_offset=1))
    replay = {"is_admitted": False, "segment_index": 1}
    for flow in ("waiting", "eager"):
        write("state.offset_syncs", sync(flow, 2, 120, 400, **replay))
    topic = {"topic_name": "clamped"}
    write("state.offset_syncs", *(sync("clamped", *one, **topic) for one in SPAN))
    first = {"sync_log_offset": 1, "first_downstream_offset": 200}
    write("state.mirrored_partitions", partition("clamped", **topic, **first))
    file = tmp_path / "moldau.yml"
    file.write_text(CONFIG)
    return load_settings(file, warehouse)


Answer = dict[str, Any]


@pytest.fixture
def ask(settings: Settings) -> Callable[..., list[Answer]]:
    def answers(*probes: str, clusters: Sequence[str] = ()) -> list[Answer]:
        return translate_probes(settings, probes, clusters, NOON)

    return answers


Ask = Callable[..., list[Answer]]


def test_each_flow_that_mirrors_the_topic_answers_with_its_proof(ask: Ask) -> None:
    found = {row["flow"]: row for row in ask("orders-0:150")}
    assert list(found) == ["anchored", "eager", "plain", "waiting"]
    plain = found["plain"]
    assert plain.items() >= {
        "target_topic_name": "east.orders", "translated_offset": 201, "lower_bound": 201,
        "upper_bound": 250, "reread_max": 49, "sync_log_offset": 0, "sync_upstream_offset": 100,
        "sync_downstream_offset": 200, "reason_code": None, "ruleset": "full_history",
    }.items()  # fmt: skip
    assert [found["anchored"][name] for name in ("translated_offset", "reread_max")] == [250, 0]
    assert [found[name]["translated_offset"] for name in ("waiting", "eager")] == [201, 401]


def test_a_refusal_has_its_reason(ask: Ask) -> None:
    [before] = ask("orders-0:99", clusters=["west"])[1:]
    assert (before["flow"], before["translated_offset"]) == ("plain", -1)
    assert before["reason_code"] == "BEFORE_FIRST_SYNC"
    assert before["reason_text"].startswith("The group is before the first sync")
    [unknown] = ask("orders-7:1", clusters=["west"])[1:]
    assert (unknown["translated_offset"], unknown["reason_code"]) == (None, "NO_SYNC")


def test_a_clamped_answer_says_that_it_is(ask: Ask) -> None:
    """4.3: it has a reason, and no sync."""
    [told] = ask("clamped-0:50", clusters=["pond"])
    assert (told["translated_offset"], told["sync_log_offset"]) == (200, None)
    assert told["reason_code"] == "BEFORE_FIRST_SYNC_CLAMPED"


def test_several_probes_are_one_question(ask: Ask) -> None:
    rows = ask("orders-0:201", "orders-0:500", "orders-0:201", clusters=["north"])
    assert [(row["upstream_offset"], row["flow"], row["translated_offset"]) for row in rows] == [
        (201, "eager", 401), (201, "waiting", 301), (500, "eager", 401), (500, "waiting", 302),
    ]  # fmt: skip


def test_a_topic_that_a_flow_leaves_out_has_no_row_of_it(ask: Ask) -> None:
    rows = ask("payments-0:1")
    assert [row["flow"] for row in rows] == ["anchored", "eager", "waiting"]
    with pytest.raises(MoldauError, match="no flow mirrors topic '__consumer_offsets'"):
        ask("__consumer_offsets-0:1")


def test_names_with_quotes_are_only_names(ask: Ask) -> None:
    rows = ask("it's; \\ select '-0:1", clusters=["north"])
    assert {row["topic_name"] for row in rows} == {"it's; \\ select '"}


def test_no_flow_is_an_error(settings: Settings) -> None:
    with pytest.raises(MoldauError, match="no flow of cluster 'south' is configured"):
        translate_probes(settings, ["orders-0:1"], ["south"], NOON)
    without = settings.model_copy(update={"sections": {"flows": {}}})
    with pytest.raises(MoldauError, match="no flow is configured"):
        translate_probes(without, ["orders-0:1"], [], NOON)


@pytest.mark.parametrize("text", ["orders", "orders:1", "orders-0", "orders-0:", "-0:1", "a-0:-1"])
def test_what_is_no_probe_is_refused(text: str) -> None:
    with pytest.raises(MoldauError, match="is not TOPIC-PARTITION:OFFSET"):
        parse_probe(text)


def test_offsets_past_kafkas_are_refused() -> None:
    assert parse_probe(f"a-b-2147483647:{2**63 - 1}").topic_name == "a-b"
    for text in (f"a-0:{2**63}", "a-2147483648:0"):
        with pytest.raises(MoldauError, match="past the largest"):
            parse_probe(text)


def test_the_verb_answers_and_writes_nothing(settings: Settings) -> None:
    def versions() -> list[Path]:
        return sorted(settings.warehouse.rglob("_delta_log/*"))

    before = versions()
    options = ["--config", str(settings.config), "--warehouse", str(settings.warehouse)]
    words = ["translate", "--probe", "orders-0:150", "--cluster", "west", "--format", "json"]
    answer = CliRunner().invoke(moldau, [*words, *options], catch_exceptions=False)
    assert [row["flow"] for row in json.loads(answer.stdout)] == ["anchored", "plain"]
    assert versions() == before


def test_a_warehouse_without_tables_of_mirrors_is_told(settings: Settings) -> None:
    shutil.rmtree(settings.warehouse / "state" / "offset_syncs")
    with pytest.raises(MoldauError, match="has no tables of mirrors yet"):
        translate_probes(settings, ["orders-0:1"], [], NOON)
