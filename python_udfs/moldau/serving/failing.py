"""What goes wrong in a page that is no reader's mistake: he is told where it is written down."""

from __future__ import annotations

import contextlib
import logging
import secrets
import traceback
from collections.abc import Collection

from moldau.escapes import visible
from moldau.plugins.masking import without
from moldau.settings import Settings
from moldau.warehouse.logs import add_error
from moldau.warehouse.paths import ERRORS

_LETTERS = 500  # of an address


def kept(error: Exception, address: str, settings: Settings) -> str:
    """One line for the page, with the id under which the log of the warehouse has the traceback;
    on stderr if it cannot be written there. `address`: what was asked for."""
    number = secrets.token_hex(4)
    hidden: Collection[str] = ()
    with contextlib.suppress(Exception):  # else the other error is not told
        hidden = settings.plugin_secrets()
    lines = "".join(traceback.format_exception(error)).rstrip("\n").split("\n")
    stack = "\n".join(without(hidden, line) or "" for line in lines)
    about = f"serve, error {number}: {without(hidden, address[:_LETTERS])}"
    log = settings.warehouse / ERRORS
    try:
        add_error(log, about, stack)
    except OSError:
        told = "\n".join(map(visible, (f"moldau {about}", *stack.split("\n"))))
        logging.getLogger(__name__).error(told)
        return f"internal error {number}: moldau told it where it was started"
    return f"internal error {number}: {log} has more under this number"
