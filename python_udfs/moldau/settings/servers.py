"""`bootstrap.servers`, as Kafka's own clients take it."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from moldau.errors import MoldauError

# org.apache.kafka.common.utils.Utils.HOST_PORT_PATTERN; no client heeds the protocol before it
_HOST_PORT = re.compile(
    r"(?:[a-zA-Z_]+://)?((?:\[[0-9a-fA-F:.%]+\]|[0-9a-zA-Z._-]+):([0-9]{1,5}))", re.ASCII
)
_PORTS = range(1, 65_536)


def _servers(told: Any) -> str:
    """The list with one comma between two: a YAML list says the same as Kafka's text."""
    listed = told.split(",") if isinstance(told, str) else told
    if not isinstance(listed, list) or not listed:
        raise _not_allowed()
    servers = [each.strip() if isinstance(each, str) else "" for each in listed]
    found = [_HOST_PORT.fullmatch(server) for server in servers]
    if not all(each and int(each[2]) in _PORTS for each in found):
        raise _not_allowed()
    return ",".join(each[1] for each in found if each)


def checked_servers(told: str) -> str:
    """As moldau.yml would take it; MoldauError if it would not."""
    try:
        return _servers(told)
    except PydanticCustomError as error:
        raise MoldauError(
            f"bootstrap.servers: {told!r} is not allowed; allowed is {error}"
        ) from None


def _not_allowed() -> PydanticCustomError:
    return PydanticCustomError("servers", "HOST:PORT, or several of them with commas between")


Servers = Annotated[str, BeforeValidator(_servers)]
