"""What a failed command prints on stderr, and its exit code.

A user's mistake, or something the machine does not allow, is one line. Anything else is an error
of moldau's own: a line, then where to look. Its traceback goes to
`<warehouse>/_moldau/errors.log`, or to stderr where there is no warehouse yet.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import select
import sys
import traceback
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import click

from moldau.cli import full_disk
from moldau.cli.say import say, say_lines
from moldau.errors import MoldauError
from moldau.plugins.masking import without
from moldau.warehouse.contracts import tables
from moldau.warehouse.logs import add_error
from moldau.warehouse.paths import DBT_LOG, ERRORS, SPARK_LOG

REFUSED, FINDINGS, INTERNAL, IN_USE = 1, 2, 3, 4

_warehouse: ContextVar[Path | None] = ContextVar("warehouse", default=None)
_secrets: ContextVar[Callable[[], Collection[str]] | None] = ContextVar("secrets", default=None)
_LETTERS = 1_000
# what the operating system says of a person's file, folder or machine, not of moldau
_OF_THE_MACHINE = {
    errno.EACCES, errno.EIO, errno.EISDIR, errno.ELOOP, errno.EMFILE,
    errno.ENAMETOOLONG, errno.ENFILE, errno.ENOMEM, errno.ENOTDIR, errno.EPERM,
    errno.EROFS, errno.ESTALE, errno.ETIMEDOUT,
}  # fmt: skip


def works_on(warehouse: Path | None, secrets: Callable[[], Collection[str]] | None = None) -> None:
    """From here on an error is one of a command on this warehouse; None = not known yet.

    `secrets`: of its plugins, whose words may be in an error of moldau's own.
    """
    _warehouse.set(warehouse)
    _secrets.set(secrets)


def tell(error: BaseException, arguments: Sequence[str]) -> int:
    """Say on stderr what went wrong with `moldau ARGUMENTS`; gives the exit code."""
    from moldau.warehouse.lock import WarehouseInUse

    if full := full_disk.in_words(error, _warehouse.get(), arguments):
        return _line(full, REFUSED)
    match error:
        case click.UsageError() if type(error).__name__ == "NoArgsIsHelpError":
            say_lines(error.format_message(), err=True)  # the help page, as it is
            return REFUSED
        case click.UsageError():
            hint = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
            return _line(f"{error.format_message()}{hint}", REFUSED)
        case click.ClickException():
            return _line(error.format_message(), REFUSED)
        case WarehouseInUse():
            return _line(str(error), IN_USE)
        case MoldauError():
            return _line(str(error), REFUSED)
        case KeyboardInterrupt() | click.Abort():
            return _line("interrupted", REFUSED)
        case BrokenPipeError() if _has_no_reader(1):
            # the reader has seen enough (`| head`): what is left goes nowhere
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return 0
        case OSError() if error.errno in _OF_THE_MACHINE:
            return _line(_of_the_machine(error), REFUSED)
        case _ if damage := _damage_behind(error):
            return _line(damage, REFUSED)
        case _:
            return _internal(error, arguments)


def _damage_behind(error: BaseException) -> str | None:
    """What of the warehouse cannot be read, or was never there, if the error may come of it."""
    warehouse = _warehouse.get()
    if warehouse is None or not isinstance(error, Exception):
        return None
    from moldau.warehouse.create import is_initialised
    from moldau.warehouse.schema import of_an_earlier_version
    from moldau.warehouse.verify import damage_behind

    try:
        if damage := damage_behind(error, warehouse, tables()):
            return damage
        return of_an_earlier_version(warehouse) if is_initialised(warehouse) else None
    except Exception:  # the first error is told
        return None


def _has_no_reader(descriptor: int) -> bool:
    """Else it was another pipe that broke: that of a process which ended too early."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _line(message: str, code: int) -> int:
    say(f"moldau: {' '.join(message.split())}", err=True)
    return code


def _of_the_machine(error: OSError) -> str:
    said = error.strerror or str(error)
    return said if error.filename is None else f"{os.fsdecode(error.filename)}: {said}"


def _internal(error: BaseException, arguments: Sequence[str]) -> int:
    secrets: Collection[str] = ()
    with contextlib.suppress(Exception):  # else the other error is not told
        secrets = (_secrets.get() or tuple)()
    said = " ".join(re.split(r"\n\s+at [\w.$]+\(", str(error))[0].split())
    said = without(secrets, said) or ""
    cut = said if len(said) <= _LETTERS else said[:_LETTERS] + "…"
    _line(f"internal error: {type(error).__name__}: {cut}", INTERNAL)
    warehouse = _warehouse.get()
    lines = "".join(traceback.format_exception(error)).rstrip("\n").split("\n")
    stack = "\n".join(without(secrets, line) or "" for line in lines)
    if warehouse is None or not _is_kept(warehouse / ERRORS, stack, arguments):
        say_lines(stack, err=True)
    logs = [] if warehouse is None else [warehouse / log for log in (ERRORS, DBT_LOG, SPARK_LOG)]
    if there := [str(log) for log in logs if log.is_file()]:
        say(f"look into {', '.join(there)}", err=True)
    return INTERNAL


def _is_kept(log: Path, stack: str, arguments: Sequence[str]) -> bool:
    if not log.parent.is_dir():
        return False
    with contextlib.suppress(OSError):
        _append(log, stack, arguments)
        return True
    return False


def _append(log: Path, stack: str, arguments: Sequence[str]) -> None:
    add_error(log, " ".join(arguments), stack)


def keep_panic(said: str) -> bool:
    """Into the log of the warehouse, unless the disk is full, which is told without it; False = it
    is for stderr."""
    warehouse = _warehouse.get()
    if warehouse is None or not (log := warehouse / ERRORS).parent.is_dir():
        return False
    try:
        _append(log, said, ["(a native library)"])
    except OSError as error:
        return full_disk.is_full(error)
    return True


def write_whole() -> None:
    """Where Python does not buffer (PYTHONUNBUFFERED), a write of which a full disk took the
    beginning passes for one that went well."""
    raw: Any = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        whole = io.BufferedWriter(raw)
        sys.stdout = io.TextIOWrapper(whole, sys.stdout.encoding, sys.stdout.errors)


def speak_any_letter() -> None:
    """What stdout and stderr cannot carry is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
