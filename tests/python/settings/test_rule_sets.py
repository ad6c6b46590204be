"""The seed of rule sets is complete and has one default a domain."""

from __future__ import annotations

import csv

import pytest

from moldau.project import SEEDS
from moldau.settings.rule_sets import default_rule_set, rule_sets

DEFAULTS = {
    "groups": "kip_1331_draft",
    "tiers": "kip_963_draft",
    "mirrors": "full_history",
    "producers": "kip_526_draft",
}


@pytest.mark.parametrize(("domain", "default"), DEFAULTS.items())
def test_each_domain_has_its_default_first(domain: str, default: str) -> None:
    assert default_rule_set(domain) == rule_sets(domain)[0] == default


def test_each_domain_has_one_default_and_no_name_twice() -> None:
    with (SEEDS / "rule_sets.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({(row["domain"], row["ruleset"]) for row in rows}) == len(rows)
    assert [r["domain"] for r in rows if r["is_default"] == "true"] == list(DEFAULTS)
    assert all(row["source"] for row in rows)


def test_the_switches_of_groups_are_those_of_the_versions() -> None:
    with (SEEDS / "rule_sets.csv").open(newline="") as file:
        switches = {
            row["ruleset"]: (row["offsets_condition"], row["uses_uncertain_epoch"])
            for row in csv.DictReader(file)
            if row["domain"] == "groups"
        }
    assert switches == {
        "kip_1331_draft": ("all_expired", "false"),
        "kip_1331_v1": ("all_expired", "false"),
        "kip_1331_v2": ("none_left", "false"),
        "kafka_4_4": ("none_left", "true"),
    }
