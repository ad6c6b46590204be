"""What the verbs share that talk to a running cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from moldau.cli.held import require_number
from moldau.errors import MoldauError

Command = TypeVar("Command", bound=Callable[..., Any])
_EXTRA = ("confluent_kafka", "cryptography", "javaproperties", "kafka")


def reach_options(command: Command) -> Command:
    """Adds `--bootstrap-servers` and `--properties`; the command receives None = not given."""
    servers = click.option(
        "--bootstrap-servers", metavar="HOST:PORT,...",
        help="Brokers to start with.  [default: bootstrap.servers of --properties]",
    )  # fmt: skip
    properties = click.option(
        "--properties", type=click.Path(path_type=Path, exists=True, dir_okay=False),
        metavar="FILE",
        help="How to log in (SASL, TLS), as Kafka's own tools take it by --command-config.",
    )  # fmt: skip
    return servers(properties(command))


timeout_option = click.option(
    "--timeout", type=click.FloatRange(min=1), default=20, show_default=True, metavar="SECONDS",
    callback=require_number,
    help="Give up when the cluster has been silent for so long.",
)  # fmt: skip
"""The command receives `timeout` in seconds."""


@contextlib.contextmanager
def needs_client(verb: str) -> Iterator[None]:
    """Imports within the block need the extra `kafka`: MoldauError says so where it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in _EXTRA:
            raise
        raise MoldauError(f"`{verb}` needs a Kafka client: pip install 'moldau[kafka]'") from None
