"""The end of a run: its row, and what moldau.yml has published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moldau.sessions.run import Run, row_of
from moldau.sessions.run_rows import append_row

if TYPE_CHECKING:
    from moldau.sessions.session import Session
    from moldau.settings import Settings


def close_run(session: Session, run: Run) -> None:
    """Write the run's row, after everything that it vouches for, and what is published."""
    append_row(session.warehouse, row_of(run), session.settings.maintain)
    publish_told(session.settings, session.warehouse, run.at_ms)


def publish_told(settings: Settings, warehouse: Path, at_ms: int) -> None:
    """The marts that moldau.yml names; their clock is the run's."""
    if settings.publish:
        from moldau.reading.tables.publish import publish

        publish(warehouse, settings.publish, at_ms)
