"""What stands at the head of the overview is what its sections say."""

from __future__ import annotations

import re
from pathlib import Path

from hostile_rows import AT_MS, HERE
from rows_support import writer
from starlette.testclient import TestClient

from moldau.serving.app import application
from moldau.serving.cells import cell_of, label_of
from moldau.settings import Settings

AT = {"at": str(AT_MS)}
ENDED = {"kind": "load", "finished_at_ms": AT_MS}


def test_what_needs_attention_is_counted_as_it_is_told(client: TestClient) -> None:
    told = client.get("/overview.json", params=AT).json()["sections"]
    lines = told["attention"]["lines"]
    assert "Runs of the last day that did not succeed: 1, listed below." in lines
    [calls] = {row["in_all"] for row in told["failed_calls"]["rows"]}
    assert f"Plugin calls of the last day that failed: {calls}, listed below." in lines
    html = client.get("/", params=AT).text
    assert _tiles(html)["attention"] == ("warn", str(len(lines)))
    assert "moldau status" not in html  # which says less


def test_one_is_not_several(empty: Settings) -> None:
    writer(empty.warehouse)("state.runs", {"run_id": "00000001-load", "status": "failed"} | ENDED)
    html = TestClient(application(empty), base_url=HERE).get("/", params=AT).text
    assert "1</strong> <span>thing needs attention</span>" in html


def test_an_empty_warehouse_needs_nobody(empty: Settings) -> None:
    html = TestClient(application(empty), base_url=HERE).get("/").text
    assert _tiles(html)["attention"] == ("good", "0")
    assert "As <code>moldau status</code> says it." in html


def test_what_cannot_be_read_is_not_none(empty: Settings) -> None:
    writer(empty.warehouse)("state.groups", {"cluster_id": "east", "group_id": "app"})
    client = TestClient(application(empty), base_url=HERE)
    assert "1 live group." in client.get("/groups").text
    for file in _files(empty.warehouse / "state" / "groups"):
        file.unlink()
    again = TestClient(application(empty), base_url=HERE)
    html = again.get("/").text
    assert 'class="problem"' in html
    assert _tiles(html)["lost"] == _tiles(html)["held"] == ("warn", "?")
    assert "live group" not in again.get("/groups").text


def test_a_size_is_called_so_once() -> None:
    assert [label_of(column) for column in ("size_bytes", "upload_lag_bytes")] == [
        "size", "upload lag size"
    ]  # fmt: skip


def test_sentences_of_moldau_are_whole() -> None:
    words = "The group waits until the clean-up cycle has released it. " * 3
    assert cell_of("reason_text", words, {}).text == words
    assert len(cell_of("group_id", words, {}).text) == 100


def _tiles(html: str) -> dict[str, tuple[str, str]]:
    """By the section that each leads to: its tone, and its number."""
    tile = r'<li class="(\w+)"><a href="#(\w+)"><strong>([^<]*)</strong>'
    return {section: (tone, shown) for tone, section, shown in re.findall(tile, html)}


def _files(table: Path) -> list[Path]:
    found = list(table.rglob("*.parquet"))
    assert found
    return found
