"""Names of the rule sets, from `seeds/rule_sets.csv`, where SQL reads their switches too."""

from __future__ import annotations

import csv
from functools import cache
from typing import Any

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from moldau.errors import MoldauError
from moldau.project import SEEDS
from moldau.settings.problems import suggestion


@cache
def rule_sets(domain: str) -> tuple[str, ...]:
    """Rule sets of `domain`, the default first."""
    return tuple(switches_of(domain))


@cache
def switches_of(domain: str) -> dict[str, dict[str, str]]:
    """Rule sets of `domain` with the columns of each as the file has them, the default first."""
    with (SEEDS / "rule_sets.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["domain"] == domain]
    rows.sort(key=lambda row: row["is_default"] != "true")
    return {row["ruleset"]: row for row in rows}


def default_rule_set(domain: str) -> str:
    """The rule set that holds where moldau.yml names none."""
    return rule_sets(domain)[0]


def require_rule_set(domain: str, name: str) -> None:
    """MoldauError, naming those that there are, if `domain` has no rule set of this name."""
    if name not in rule_sets(domain):
        raise MoldauError(f"{name!r} is not a rule set of {domain}: {_known(domain, name)}")


def RuleSet(domain: str) -> Any:
    """What pydantic checks the name of a rule set of this domain with."""

    def check(name: str) -> str:
        if name not in rule_sets(domain):
            known = _known(domain, name)
            raise PydanticCustomError("rule_set", "one of {known}", {"known": known})
        return name

    return AfterValidator(check)


def _known(domain: str, given: str) -> str:
    names = rule_sets(domain)
    return ", ".join(names) + suggestion(given, names)
