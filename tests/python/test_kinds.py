"""`moldau run` goes through the kinds of all domains in one order, which no list of them tells."""

from __future__ import annotations

from click.testing import CliRunner

from moldau.cli.run_verb import run_verb
from moldau.declared import kinds

IN_ORDER = ["requests", "cycle", "sweep", "tiers", "translate", "metadata"]


def test_each_kind_sees_what_those_before_it_applied() -> None:
    assert list(kinds()) == [name for name in IN_ORDER if name in kinds()]
    places = [kind.place for kind in kinds().values()]
    assert places == sorted(set(places))


def test_the_help_of_run_names_them_in_order() -> None:
    told = CliRunner().invoke(run_verb, ["--help"]).output
    assert ", ".join(kinds()) in " ".join(told.split())
