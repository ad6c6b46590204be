"""The only module that prints.

Group ids, topics, messages and file names come from outside, and a terminal obeys control
characters in them. In output for people they are escapes; output for programs is unchanged.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO

import click

from moldau.escapes import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


STDOUT = "standard output"
Aside = Callable[[bool], contextlib.AbstractContextManager[None]]
"""Takes: whether what is drawn stays away for good."""
_aside: Aside = lambda _ends: contextlib.nullcontext()  # noqa: E731
_is_quiet: ContextVar[bool] = ContextVar("is_quiet", default=False)


def say(line: str = "", *, err: bool = False, hang: int = 0) -> None:
    """A line for people: a line break in it is an escape like all that does not print.

    A terminal breaks it between words, and what follows is below the letter `hang` of it.
    To stderr as far as it can be written: nobody can be told that it cannot.
    """
    with _aside(False):
        if err:
            with contextlib.suppress(OSError):
                click.echo(_broken(visible(line), sys.stderr, hang), err=True)
        else:
            with _named():
                click.echo(_broken(visible(line), sys.stdout, hang))


def _broken(line: str, to: TextIO, hang: int) -> str:
    """Else a terminal breaks it anywhere."""
    try:
        width = os.get_terminal_size(to.fileno()).columns
    except (OSError, ValueError):  # it is none, or has no descriptor
        return line
    if len(line) <= width or hang >= width // 2:
        return line
    indent = " " * (hang or len(line) - len(line.lstrip()))
    return textwrap.fill(
        line, width, subsequent_indent=indent, replace_whitespace=False,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def say_lines(text: str, *, err: bool = False) -> None:
    """A text whose line breaks are moldau's own."""
    for line in text.split("\n"):
        say(line, err=err)


def warn(line: str) -> None:
    """A remark, which says whose it is."""
    say(f"moldau: {line}", err=True)


def note(line: str) -> None:
    """A remark that a person at a terminal can do without."""
    if not _is_quiet.get():
        say(line, err=True)


def be_quiet(is_quiet: bool = True) -> None:
    """Say no notes from here on."""
    _is_quiet.set(is_quiet)


@contextlib.contextmanager
def beside(aside: Aside) -> Iterator[None]:
    """In this block something else is drawn on the terminal, which `aside` takes away before all
    that is printed."""
    global _aside
    before, _aside = _aside, aside
    try:
        yield
    finally:
        _aside = before


def hand_over(text: str) -> None:
    """What programs read, as it is, unless it is a person who looks at it."""
    if is_terminal():
        text = "\n".join(map(visible, text.split("\n")))
    Data.write(text)


class Data:
    """Standard output for CSV, which is as it is everywhere."""

    @staticmethod
    def write(text: str) -> None:
        is_whole = text.endswith("\n") or not is_terminal()
        with _aside(not is_whole), _named():
            sys.stdout.write(text)

    @staticmethod
    def flush() -> None:
        with _named():
            sys.stdout.flush()


@contextlib.contextmanager
def _named() -> Iterator[None]:
    """An error of writing says no more than its reason. What is left goes nowhere then: Python
    would try once more as it ends."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        error.filename, error.filename2 = STDOUT, os.path.realpath("/proc/self/fd/1")
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise


def is_terminal() -> bool:
    return sys.stdout.isatty()


def console(err: bool = False, to: TextIO | None = None) -> Console:
    """For tables and bars on a terminal; their texts are `visible`. `to`: whatever stdout and
    stderr become meanwhile."""
    from rich.console import Console

    return Console(stderr=err, file=to)


def draw(table: Table) -> None:
    """What `rich` draws, on stdout."""
    with _aside(False):
        console().print(table)


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
