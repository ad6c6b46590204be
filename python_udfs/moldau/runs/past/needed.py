"""Which tables of a moment have to be made for a question about some of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from moldau.compiled.graph import Node, tables_under

MADE = ("state.", "decisions.")  # what else a run writes is history, which comes as it is


def needed(asked: Collection[str], parts: Iterable[Sequence[Node]]) -> frozenset[str]:
    """The tables that are asked about, and what is read to make them, through any number of steps.

    `parts`: models of which all are made, or none: one that folds, or all of a run."""
    steps = [(written(models), tables_under([model.name for model in models])) for models in parts]
    found: set[str] = set(asked)
    while more := {name for made, read in steps if made & found for name in read - found}:
        found |= more
    return frozenset(found)


def written(models: Iterable[Node]) -> set[str]:
    return {model.table for model in models if model.table.startswith(MADE)}
