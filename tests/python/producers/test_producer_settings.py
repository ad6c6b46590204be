"""Settings of producers: Kafka's keys with Kafka's limits, and what a producer has of `default`."""

from __future__ import annotations

from pathlib import Path

import pytest

from moldau.errors import MoldauError
from moldau.settings import Settings, load_settings
from moldau.settings.rule_sets import switches_of


def read(folder: Path, producers: str) -> Settings:
    file = folder / "moldau.yml"
    file.write_text(f"producers: {producers}\n")
    return load_settings(file, None)


def test_g1_what_is_not_set_has_kafkas_defaults(tmp_path: Path) -> None:
    row = read(tmp_path, "{}").entry("producers", "any").row()
    told = {name: row[name] for name in ("evict_ms", "max_age_ms", "max_idle_ms", "ruleset")}
    assert told == {
        "evict_ms": 300_000, "max_age_ms": 300_000, "max_idle_ms": None, "ruleset": "kip_526_draft",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "column"),
    [
        ("metadata.evict.ms", 1000, "evict_ms"),  # G2
        ("metadata.evict.ms", '"1000"', "evict_ms"),  # as Kafka's files have it
        ("metadata.max.idle.ms", 5000, "max_idle_ms"),  # G5
        ("metadata.max.age.ms", 0, "max_age_ms"),
        ("retry.backoff.ms", 0, "retry_backoff_ms"),
        ("pace_ms", 0, "pace_ms"),
    ],
)
def test_the_least_value_is_taken(tmp_path: Path, key: str, value: object, column: str) -> None:
    row = read(tmp_path, f"{{p: {{{key}: {value}}}}}").entry("producers", "p").row()
    assert row[column] == int(str(value).strip('"'))


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ("metadata.evict.ms: 999", "producers.p.metadata.evict.ms: 999 .*at least 1000"),
        ("metadata.evict.ms: abc", "producers.p.metadata.evict.ms: 'abc' .*a whole number"),  # G4
        ("metadata.max.idle.ms: 4999", "producers.p.metadata.max.idle.ms: 4999 .*at least 5000"),
        ("metadata.max.age.ms: -1", "producers.p.metadata.max.age.ms: -1 .*at least 0"),
        ("target_factor: '*100'", "producers.p.target_factor: .*/10"),
        ("rule_mode: both", "producers.p.rule_mode: .*one of single, independent, sequential"),
        ("ruleset: kip_526", "producers.p.ruleset: .*kip_526_draft"),
        ("metadata.evict.msec: 5", "producers.p: .*unknown key|unknown key"),
    ],
)
def test_another_value_is_an_error(tmp_path: Path, told: str, message: str) -> None:
    with pytest.raises(MoldauError, match=message):
        read(tmp_path, f"{{p: {{{told}}}}}")


def test_a_producer_inherits_what_it_does_not_say(tmp_path: Path) -> None:
    settings = read(tmp_path, "{default: {metadata.evict.ms: 7000, pace_ms: 3}, p: {pace_ms: 4}}")
    told = {name: settings.entry("producers", name).row() for name in ("default", "p", "not named")}
    assert {name: (row["evict_ms"], row["pace_ms"]) for name, row in told.items()} == {
        "default": (7000, 3), "p": (7000, 4), "not named": (7000, 3),
    }  # fmt: skip
    assert told["p"]["settings_hash"] != told["default"]["settings_hash"]
    assert told["not named"] == told["default"]


def test_rule_sets_are_told_apart_by_their_switches() -> None:
    names = ("topics_requested", "target_factor", "rule_mode", "idle_from", "pace_ms")
    found = {
        name: tuple(row[switch] for switch in names)
        for name, row in switches_of("producers").items()
    }
    assert found == {
        "kip_526_draft": ("subset", "/10", "single", "access", ""),
        "kip_526_revised": ("subset", "*10", "single", "access", ""),
        "kafka_2_5": ("new_or_all", "", "", "access", ""),
        "before_2_5": ("all", "", "", "answer", ""),
        "paced": ("subset", "*10", "single", "access", "10000"),
    }
