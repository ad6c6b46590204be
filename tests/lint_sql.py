"""`sqlfluff WORDS`, but each macro is compiled once.

For every file sqlfluff compiles all macros twice, which is half of what it costs.
"""

from __future__ import annotations

from functools import cache
from types import CodeType
from typing import Any

from jinja2 import Environment
from sqlfluff.cli.commands import cli

_compile = Environment.compile
_alike: dict[tuple[Any, ...], Environment] = {}


@cache
def _compiled(environment: Environment, source: str) -> CodeType:
    return _compile(environment, source)


def compile_once(self: Environment, source: Any, *rest: Any, **named: Any) -> Any:
    """A template is code that any environment of the same syntax runs."""
    if rest or named or not isinstance(source, str):
        return _compile(self, source, *rest, **named)
    syntax = (type(self), *sorted(self.extensions), self.trim_blocks, self.keep_trailing_newline)
    return _compiled(_alike.setdefault(syntax, self), source)


Environment.compile = compile_once  # type: ignore[method-assign]
if __name__ == "__main__":  # its processes import this file, too
    cli()
