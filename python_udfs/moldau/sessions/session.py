"""The session of a command, or of all lines of `moldau exec`: it makes models on either engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.compiled.graph import Node, models_tagged
from moldau.engines.chosen import Engines
from moldau.engines.engine import Looked, Mapped
from moldau.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.sessions.run import Run
    from moldau.warehouse.aside import Aside


Listener = Callable[[str, int | None], None]
"""Told which stage a run has come to, and of how many rows; None = nobody knows yet."""


def heard_by_nobody(_stage: str, _rows: int | None) -> None:
    """Where nobody waits."""


@dataclass
class Session:
    settings: Settings
    warehouse: Path
    engines: Engines
    tell: Listener = heard_by_nobody
    # nobody was told yet: runs that were interrupted, what loads found that were, and what could
    # not be finished
    finished: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    set_aside: list[Aside] = field(default_factory=list)

    def models(self, stage: str, kind: str) -> list[Node]:
        """The models of a stage (`fold`, `decide`, `apply`) of a kind of file or run.

        One that is `for_each` entry of a section of moldau.yml has no work where there is none.
        """
        sections = {None} | {name for name, told in self.settings.sections.items() if told}
        models = models_tagged(f"{stage}_{kind}")
        return [model for model in models if model.meta.get("for_each") in sections]

    def bring(self, name: str, sql: str) -> None:
        """Make the view `run.<name>`: what the run that is open is about, or brings."""
        self.engines.at_hand.bring(name, sql)

    def look_at(self, model: str, parts: Looked) -> None:
        """A model of the run that is open needs but these parts of tables, when it is made."""
        self.engines.at_hand.look_at(model, parts)

    def make_views(self, *names: str) -> None:
        """These views and what they read: views once a session, lists of the run each time."""
        self.engines.at_hand.make_views(names)

    def run_models(self, *names: str) -> None:
        """Write these models, in the order of the graph, after the views and lists they read."""
        self.engines.at_hand.run(names)

    def keep(self, view: str, folder: Path) -> str:
        """Keep the rows of a view of the run that is open; gives the relation that reads them."""
        return self.engines.at_hand.keep(view, folder)

    def map(self, view: str, change: Mapped, schema: pa.Schema, folder: Path) -> str:
        """Keep what a function over batches of Arrow makes of the rows of a view of the run.

        On Spark it is called in each worker. Gives the relation that reads them."""
        return self.engines.at_hand.map(view, change, schema, folder)

    def sql(self, statement: str) -> list[Any]:
        """The rows of a query in Spark SQL."""
        return self.engines.at_hand.sql(statement)
