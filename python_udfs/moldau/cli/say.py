"""The one place that prints.

Group ids, topics, messages and file names are what somebody else wrote, and a terminal obeys what
stands in a text. What a person reads has control characters as escapes; what a program reads is
handed over as it is.
"""

from __future__ import annotations

import logging
import sys
import warnings
from typing import TYPE_CHECKING, TextIO

import click

from moldau.reading.values import visible

if TYPE_CHECKING:
    from rich.console import Console


def say(line: str = "", *, err: bool = False) -> None:
    """A line for people: a line break in it is an escape like all that does not print."""
    click.echo(visible(line), err=err)


def say_lines(text: str, *, err: bool = False) -> None:
    """A text whose line breaks are moldau's own."""
    for line in text.split("\n"):
        say(line, err=err)


def hand_over(text: str) -> None:
    """What programs read, as it is, unless it is a person who looks at it."""
    lines = text.split("\n")
    data_stream().write("\n".join(map(visible, lines)) if is_terminal() else text)


def data_stream() -> TextIO:
    """Where CSV goes, which is as it is everywhere."""
    return sys.stdout


def is_terminal() -> bool:
    return sys.stdout.isatty()


def console(err: bool = False) -> Console:
    """For tables and bars on a terminal; their texts are `visible`."""
    from rich.console import Console

    return Console(stderr=err)


def say_what_libraries_say() -> None:
    """Warnings and logs that nobody else takes are lines like all others."""
    logging.lastResort = _Sayer(logging.WARNING)
    warnings.showwarning = _say_warning


class _Sayer(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record), err=True)


def _say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    say(f"{filename}:{lineno}: {category.__name__}: {message}", err=True)
