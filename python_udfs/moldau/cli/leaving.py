"""The end of a command's process."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """`sys.exit`, which would take apart what dbt has read, object by object: a second."""
    if "dbt.cli.main" not in sys.modules:
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # what can be told of it was told
            stream.flush()
    os._exit(code)
