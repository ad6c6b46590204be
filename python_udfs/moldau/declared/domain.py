"""What a domain declares to the layers that all domains share.

What its runs decide, record, measure, apply and fold is not declared here but by the models, in the
tags `fold_<kind of file>`, `decide_<kind of run>` and `apply_<kind of run>`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

# Classes of the layers above: they read what is declared, so this file imports none of them.
Section: TypeAlias = Any
"""`moldau.settings.fields.Section`"""
Settings: TypeAlias = Any
"""`moldau.settings.Settings`"""
Run: TypeAlias = Any
"""`moldau.sessions.run.Run`"""
Shape: TypeAlias = Any
"""`moldau.loading.shape.Shape`"""


@dataclass(frozen=True)
class Question:
    """An option that makes a verb answer, by the rules of its runs, instead of deciding.

    Nothing is written, no lock is taken and no Spark is started."""

    option: str
    """`--probe`, which may be repeated."""
    metavar: str
    help: str
    answer: Callable[
        [Settings, Sequence[str], Sequence[str], int | None], Sequence[Mapping[str, Any]]
    ]
    """Rows, one at least, of the option's values, the clusters asked about (none = all) and the
    instant to decide at (None = now)."""

    @property
    def parameter(self) -> str:
        """What a command receives the option's values as."""
        return self.option.lstrip("-").replace("-", "_")


@dataclass(frozen=True)
class Kind:
    """A kind of run that decides, and the verb of that name."""

    name: str
    summary: str
    """A line of `moldau --help`."""
    decides: str
    applies: str
    decisions: str
    """With `decides` and `applies` the ends of sentences of the verb's own help."""
    place: int = 1000
    """`moldau run` goes through the kinds by it: each sees what those before it applied."""
    acts_on: tuple[str, ...] = ()
    """Counts of decisions; with none of them there is nothing to apply."""
    always_applies: bool = False
    """There may be something to apply though nothing was decided."""
    counts: tuple[str, ...] = ()
    """Queries for (name, number) of what a run applied; `{run}` stands for its id."""
    applies_everywhere: bool = False
    """What it applies is moldau's own: whoever is in charge of a cluster, it is applied."""
    settles: bool = False
    """What it applies changes none of its decisions: the next run has nothing to do."""
    in_scope: Callable[[Settings, Sequence[str]], str] | None = None
    """Of clusters: SQL predicate on the decisions that a run about them makes; None = theirs."""
    decides_once: bool = False
    """A subject is decided by one run: what earlier runs decided is none of its counts."""
    follows: Mapping[str, str] = field(default_factory=dict)
    """A table of state that it applies to, and the one by whose changes rows of it may be over:
    then there is something to apply though nothing is to be decided."""
    questions: tuple[Question, ...] = ()
    is_watched: bool = False
    """`moldau watch` runs it on each cluster's check interval."""


@dataclass(frozen=True)
class Topics:
    """A family of internal topics (`moldau.records.families`) that is decoded into a table."""

    family: str
    table: str
    """`decoded.<name>`, whose columns say what is kept of a record (`moldau.records.flat`)."""
    view: str | None = None
    """`run.<view>` has the rows of one load; None = its folds pick them from the table by `run_id`,
    or nothing folds them yet."""
    is_read_again: bool = False
    """Runs read the table, too, and not only what a load brought."""
    known_in_part: str | None = None
    """A helper with a row (`group_id`) for each group of which a load shows parts alone, though
    its log, read from the start, has the whole."""


@dataclass(frozen=True)
class Recorded:
    """Settings that runs bring as `run.<view>`, and record in `state.<view>` when they change.

    A load brings them, a comparison, and each run of the domain.
    """

    view: str
    rows: Callable[[Settings, Run], list[dict[str, Any]]]
    """The first column names what has the settings; `settings_hash` is their digest."""
    models: tuple[str, ...]
    """What is written when they change: what had to wait for them, and the record."""
    of_loads: tuple[str, ...] | None = None
    """Kinds of files whose loads bring them; None = every load does."""


@dataclass(frozen=True)
class Explained:
    """The answer of `moldau explain`: in sentences, and as a table."""

    words: list[str]
    rows: list[dict[str, Any]]
    columns: tuple[str, ...] = ()
    """What no row would have; of rows they are their keys."""


@dataclass(frozen=True)
class Subjects:
    """What of a domain `moldau explain` can be asked about."""

    forms: tuple[str, ...]
    """`cleanup GROUP`, as the user gives it."""
    explain: Callable[[Path, str, str | None, int | None], Explained | None]
    """Of warehouse, text, cluster and clock; None = the text names nothing of this domain.

    MoldauError if it names something of which nothing is stored, or of which there are several."""
    take_any_text: bool = False
    """A thing may be called anything at all: this domain is asked last."""


@dataclass(frozen=True)
class Told:
    """What `moldau what-if` tells of both sides: rows that have the same `keys` and other `values`.

    `sql`: a query in Spark's SQL for the rows of one side, with these columns."""

    keys: tuple[str, ...]
    values: tuple[str, ...]
    sql: str


@dataclass(frozen=True)
class WhatIf:
    """What of a domain would be decided otherwise under other settings."""

    summary: str
    example: str
    """A setting of moldau.yml with its value."""
    reads: tuple[str, ...]
    """The views that the queries of `told` name."""
    told: Mapping[str, Told]
    """By what `--by` calls it, the default first."""
    section: str | None = None
    """The section of moldau.yml whose entries are changed; None = the clusters."""
    folded: tuple[str, ...] = ()
    """Columns of a recorded entry that say what was folded: no other settings can undo that."""


@dataclass(frozen=True)
class Domain:
    """`name` is that of its folders of models, its seeds' rows and its dbt group."""

    name: str
    kinds: tuple[Kind, ...] = ()
    verbs: Mapping[str, str] = field(default_factory=dict)
    """Other verbs, `moldau.cli.<verb>`, with the line of `moldau --help` for each."""
    topics: tuple[Topics, ...] = ()
    files: Mapping[str, Callable[[], Shape]] = field(default_factory=dict)
    """Kinds of files beside records, `moldau load --kind`; of several, `files_of`."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """Of some kinds of files a helper, each row of which says what is odd about a load
    (`remark`)."""
    sections: Mapping[str, Callable[[], type[Section]]] = field(default_factory=dict)
    """Sections of moldau.yml: what each of their entries is."""
    recorded: tuple[Recorded, ...] = ()
    """Settings of its sections that its models read."""
    has_cluster_rules: bool = True
    """A cluster has a rule set of its own (`ruleset:` in moldau.yml) if there are any."""
    reasoned: str | None = None
    """The view of everything that it would decide, for `moldau compare`."""
    what_if: WhatIf | None = None
    subjects: Subjects | None = None


def files_of(shapes: Callable[[], Iterable[Shape]], *kinds: str) -> dict[str, Callable[[], Shape]]:
    """`Domain.files` of one function: the names alone are asked without what shapes import."""

    def of(kind: str) -> Shape:
        return next(shape for shape in shapes() if shape.kind == kind)

    return {kind: partial(of, kind) for kind in kinds}
