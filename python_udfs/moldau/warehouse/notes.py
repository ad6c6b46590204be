"""Notes of one command for the next, as JSON files: journals, what a run decided on.

Each carries the version of its format. A note of another version, or a torn one, raises
NotUnderstood: its reader decides what to do.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from moldau.warehouse.durable import write_durably

VERSION = 1
EXACTLY = ConfigDict(extra="forbid", strict=True)
"""For `__pydantic_config__` of the dataclass of a note: no other fields, no other types."""
Note = TypeVar("Note")


class NotUnderstood(Exception):
    """What is wrong with a note, in one line."""


class OtherVersion(NotUnderstood):
    """The note is whole, and of a moldau that writes it in another form."""


def write_note(path: Path, content: Any) -> None:
    """Write a dataclass (or a mapping of its fields) durably, with the version."""
    fields = _form_of(cast(Hashable, type(content))).dump_python(content, mode="json")
    write_durably(path, json.dumps({"version": VERSION, **fields}))


def read_note(path: Path, kind: type[Note]) -> Note:
    """The note as `kind`. NotUnderstood if its content is not that; OSError if it cannot be read.

    Notes without a version are of moldau 0.1, whose form was version 1's.
    """
    try:
        content = json.loads(path.read_bytes())
    except IsADirectoryError:
        raise NotUnderstood("it is a folder") from None
    except (ValueError, RecursionError):
        raise NotUnderstood("it is empty or not JSON") from None
    if not isinstance(content, dict):
        raise NotUnderstood("it is no JSON object")
    version = content.pop("version", VERSION)
    if version != VERSION:
        raise OtherVersion(f"it has version {version!r}, and this moldau writes {VERSION}")
    try:
        note: Note = _form_of(cast(Hashable, kind)).validate_json(json.dumps(content))
        return note
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise NotUnderstood(f"{where}: {first['msg']}") from None


@cache
def _form_of(kind: Any) -> TypeAdapter[Any]:
    """A tick of `moldau watch` reads five notes, and to make this costs more than to read one."""
    return TypeAdapter(kind)
