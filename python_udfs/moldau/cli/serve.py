"""`moldau serve`: pages in a browser, on this machine."""

from __future__ import annotations

import atexit
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from moldau.cli.options import pass_settings_to_read
from moldau.cli.say import say
from moldau.settings import Settings


@click.command(name="serve")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8181, show_default=True,
    help="0 = one that is free.",
)  # fmt: skip
@click.option(
    "--host", default="127.0.0.1", show_default=True,
    help="Address to listen on. One that others reach needs a token.",
)  # fmt: skip
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="The token that readers have to know, in the first line of a file.  [default: "
    "MOLDAU_SERVE_TOKEN]",
)
@pass_settings_to_read
def serve(settings: Settings, port: int, host: str, token_file: Path | None) -> None:
    """Show in a browser what is lost next, what is held, what is behind, and why.

    Every page also is JSON at its address with `.json`, shows its queries, and has a link with its
    clock (`?at=`). Pages only read, also while another command writes. They end with SIGTERM or
    Ctrl-C.

    A browser is asked for the token as the password (the name is free); programs send
    `Authorization: Bearer TOKEN`.

    \b
    Example:
      moldau serve --port 8181
    """
    from moldau.serving.server import serve as answer
    from moldau.serving.server import token_of

    token = token_of(token_file, os.environ.get("MOLDAU_SERVE_TOKEN"))
    answer(settings, host, port, token, lambda address: say(f"{address} until Ctrl-C"))
    _end()


def _end() -> NoReturn:
    """A page that is still being made is in native code, which aborts if Python ends around it."""
    atexit._run_exitfuncs()  # what was made for a while goes
    sys.stdout.flush()
    os._exit(0)
