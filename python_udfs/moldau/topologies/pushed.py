"""The description of a push as a load stores it: as received, and as the converter reads it."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from moldau.topologies.description import InvalidTopology, from_wire, to_wire
from moldau.topologies.findings import findings

PUSHED = pa.struct(
    [
        ("text", pa.string()),
        ("description", pa.string()),
        ("error_message", pa.string()),
        ("findings", pa.list_(pa.string())),
    ]
)


def pushed(name: str, value: Any) -> dict[str, Any]:
    """A row of `PUSHED`, whatever the client sent: a bad description is answered, not refused.

    `text`: the JSON as it came. `description`: the JSON that a plugin is given, `error_message`:
    why there is none; one of the two is null. `findings`: what Kafka accepts in silence.
    ValueError for a text that no table can hold.
    """
    given = json.dumps(value, ensure_ascii=False)
    try:
        given.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds half a surrogate pair") from None
    row: dict[str, Any] = {"text": given, "description": None, "error_message": None}
    try:
        description = from_wire(_parsed(value))
    except InvalidTopology as error:
        return row | {"error_message": str(error), "findings": []}
    wire = json.dumps(to_wire(description), ensure_ascii=False)
    return row | {"description": wire, "findings": findings(description)}


def _parsed(value: Any) -> Any:
    """In a Parquet file the description may be a text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise InvalidTopology("the description is not an object") from None
