"""Continue after a plugin has ended the process that called it: calls in progress have failed."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from moldau.compiled.dbt import DbtError
from moldau.errors import MoldauError
from moldau.plugins.kept_answers import read_left
from moldau.sessions import shutdown
from moldau.warehouse.paths import CALLS

_IDLE_ATTEMPTS = 3  # without progress: a process may end between two calls, by whoever's doing
_SPARKS_WORDS = "Python worker exited unexpectedly"


@contextmanager
def call_journal(warehouse: Path, run_id: str) -> Iterator[Path]:
    """A folder for the journal of the plugin calls that this command makes for the run.

    What another command left is dropped: it was killed itself, so its calls are repeated.
    """
    shutil.rmtree(warehouse / CALLS, ignore_errors=True)
    folder = warehouse / CALLS / f"{run_id}-{uuid.uuid4().hex}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(warehouse / CALLS, ignore_errors=True)


def repeat_while_plugins_end(
    write: Callable[[], None], journal: Path, clusters: Sequence[str]
) -> None:
    """Write, again after each process that a plugin has ended: each time fewer calls are left.

    MoldauError when it goes on without any call being made.
    """
    progress, idle = 0, 0
    while True:
        try:
            return write()
        except DbtError as error:
            if _SPARKS_WORDS not in str(error):
                raise
            before, progress = progress, read_left(journal).progress
            idle = idle + 1 if progress == before else 0
            if idle == _IDLE_ATTEMPTS:
                raise MoldauError(
                    "the plugin of one of these clusters ends the process that calls it before a "
                    f"call is made: {', '.join(clusters)}. Until it is mended, set "
                    "`authority: broker` for its cluster"
                ) from error
        shutdown.check()
