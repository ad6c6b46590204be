"""What a run asks of an engine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.plugins.registry import PluginSpec

EngineName: TypeAlias = Literal["auto", "spark", "duckdb"]
"""`auto`: DuckDB as long as the tables of a run fit into memory, else Spark."""

Mapped: TypeAlias = Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
"""Each row by itself: any part of them gives its part of the answer. It can be pickled."""


@dataclass(frozen=True)
class Part:
    """Of a table: the rows in these files, by paths below its folder, for which a condition holds.

    `where`: in words of Spark and of DuckDB; groups of rows are left out by it."""

    files: Collection[str]
    where: str = "true"


Looked: TypeAlias = Callable[[], Mapping[str, Part]]
"""By table; of others all is looked at."""


class Engine(Protocol):
    """It makes the models of the run that is open: all SQL that it is given is Spark's."""

    def begin(self, brought: Mapping[str, str], is_small: bool) -> None:
        """Open a run with what it brings: view of `run.*` -> its query; all others are empty.

        `is_small`: it pays to plan little, not to divide work."""

    def bring(self, name: str, sql: str) -> None:
        """Make the view `run.<name>`, of what the run that is open brings, too."""

    def look_at(self, model: str, parts: Looked) -> None:
        """A model of the run that is open needs but these parts of tables.

        They are asked for when it is made. An engine may look at more, too."""

    def make_views(self, names: Sequence[str]) -> None:
        """These views and what they read: views once a session, lists of the run each time."""

    def run(self, names: Sequence[str]) -> None:
        """Write these models, in the order of the graph, after the views and lists they read."""

    def calling(
        self, specs: Mapping[str, PluginSpec], journal: Path, dies_in_call: Sequence[int]
    ) -> AbstractContextManager[None]:
        """In this block models may call these plugins, by cluster (`moldau.plugins.slices`)."""

    def keep(self, view: str, folder: Path) -> str:
        """Keep the rows of a view of the run; gives the relation that reads them."""

    def map(self, view: str, change: Mapped, schema: pa.Schema, folder: Path) -> str:
        """Keep what a function over batches makes of the rows of a view of the run.

        Gives the relation that reads them."""

    def sql(self, statement: str) -> list[Any]:
        """The rows of a query."""
