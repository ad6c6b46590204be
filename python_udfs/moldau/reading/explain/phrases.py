"""Phrases that answers about all domains have."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from typing import Any

from moldau.instants import format_instant
from moldau.project import SEEDS


@cache
def reason_texts() -> dict[tuple[str, str], str]:
    """The sentence for each (decision_table, reason_code)."""
    with (SEEDS / "reason_codes.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["decision_table"], row["reason_code"]): row["reason_text"]
            for row in csv.DictReader(file)
        }


def reason_text(table: str, code: str) -> str:
    """The sentence for a code of a table of decisions; empty if there is none."""
    return reason_texts().get((table.removeprefix("decisions."), code), "")


def decided_in(row: Mapping[str, Any]) -> str:
    """When, by which rules and by which run."""
    at = format_instant(row["decided_at_ms"])
    return f"decided for {at} under {row['ruleset']} in run {row['run_id']}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def topology_epoch(epoch: int) -> str:
    return {-1: "none", -2: "uncertain"}.get(epoch, str(epoch))
