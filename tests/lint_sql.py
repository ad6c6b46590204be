"""`sqlfluff WORDS`, but each macro is compiled once.

For every file sqlfluff compiles all macros twice, which is half of what it costs. An eighth of the
rest is Python's search for garbage among the trees of a file, all of which are in use.
"""

from __future__ import annotations

import gc
from types import CodeType
from typing import Any

from jinja2 import Environment
from sqlfluff.cli.commands import cli

_compile = Environment.compile
_codes: dict[tuple[type[Environment], str], CodeType] = {}


def compile_once(self: Environment, source: Any, *rest: Any, **named: Any) -> Any:
    """All environments of a class have the same syntax here, so one runs what another compiled."""
    if rest or named or not isinstance(source, str):
        return _compile(self, source, *rest, **named)
    key = (type(self), source)
    if key not in _codes:
        _codes[key] = _compile(self, source)
    return _codes[key]


# sqlfluff has no setting for it, and makes its environments itself
Environment.compile = compile_once  # type: ignore[method-assign]
gc.set_threshold(100_000, 20, 20)
if __name__ == "__main__":  # its processes import this file, too
    cli()
