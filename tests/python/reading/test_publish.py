"""`moldau publish`: marts as Delta tables, from the same views that `show` reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable
from rows_support import Write

from moldau.cli.publish import publish as verb
from moldau.errors import MoldauError
from moldau.reading.tables.publish import publish
from moldau.settings import load_settings
from moldau.warehouse.contracts import marts

GROUP = {"cluster_id": "east", "group_id": "g", "group_type": "streams", "group_state": "EMPTY"}


@pytest.fixture
def published(write_empty: Callable[..., None], write: Write, warehouse: Path) -> Path:
    write_empty(*marts())
    write("state.groups", GROUP | {"stored_description_topology_epoch": 3})
    return warehouse


def test_a_mart_becomes_a_table_of_its_rows(published: Path, write: Write) -> None:
    assert publish(published, ["groups", "marts.plugin_calls"]) == {"groups": 1, "plugin_calls": 0}
    write("state.groups", GROUP | {"group_id": "h"})
    assert publish(published, ["groups"]) == {"groups": 2}
    table = pl.read_delta(str(published / "published" / "groups")).sort("group_id")
    assert table["group_id"].to_list() == ["g", "h"]
    assert table["topology_description"].to_list() == ["stored", "stored"]
    assert table.columns == [column.name for column in marts()["marts.groups"].columns]


def test_files_that_no_version_of_a_week_needs_go(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moldau.reading.tables.publish.MANY", 4)
    publish(published, ["groups"])
    folder = published / "published" / "groups"
    DeltaTable(folder).alter.set_table_properties(
        {"delta.deletedFileRetentionDuration": "interval 0 hours"}
    )
    for _ in range(2):
        publish(published, ["groups"])
    assert len(list(folder.glob("*.parquet"))) == 3
    publish(published, ["groups"])
    assert len(list(folder.glob("*.parquet"))) == 1
    assert len(pl.read_delta(str(folder))) == 1


def test_all_of_them_are_published_without_a_name(published: Path) -> None:
    assert set(publish(published)) == {mart.name for mart in marts().values()}
    folders = {folder.name for folder in (published / "published").iterdir()}
    assert folders == {mart.name for mart in marts().values()}


def test_the_clock_is_that_of_the_reader(published: Path) -> None:
    """`marts.metrics` tells when it was measured."""
    write_at = ["metrics", "--at", "2026-01-02T03:04:05Z", "--warehouse", str(published)]
    told = CliRunner().invoke(verb, [*write_at, "--format", "json"])
    assert told.exit_code == 0, told.output


def test_what_is_no_mart_is_refused(published: Path) -> None:
    with pytest.raises(MoldauError, match=r"no mart 'group'; did you mean groups\?"):
        publish(published, ["group"])
    assert not (published / "published").exists()


def test_what_duckdb_cannot_ask_is_named(published: Path, write: Write) -> None:
    """MirrorMaker's filters are Java's regular expressions, of which DuckDB knows not all."""
    flow = {"flow": "f", "source_cluster_id": "east", "topics_pattern": r"\A(?!x).*\z"}
    write("state.flows", flow | {"groups_pattern": r"\A.*\z", "valid_from_ms": 1})
    commit = {"cluster_id": "east", "group_id": "g", "committed_topic_name": "t"}
    write("decoded.group_records", commit | {"committed_offset": 1})
    message = r"marts.translation_backtest cannot be published: .*invalid perl operator: \(\?!"
    with pytest.raises(MoldauError, match=message):
        publish(published, ["translation_backtest"])


def test_settings_name_marts(tmp_path: Path) -> None:
    file = tmp_path / "moldau.yml"
    file.write_text("publish: [groups, tier_lag]\n")
    assert load_settings(file).publish == ["groups", "tier_lag"]
    file.write_text("publish: [grups]\n")
    with pytest.raises(MoldauError, match=r"publish\.0: 'grups' is not allowed; allowed is one of"):
        load_settings(file)
