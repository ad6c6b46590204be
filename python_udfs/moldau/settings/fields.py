"""Kinds of values that Kafka's properties have, as pydantic types.

Kafka writes every value as text, so `"604800000"` and `"true"` are accepted beside the YAML
number and boolean; what is no number or boolean in Kafka's eyes is not coerced.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

INT_MAX = 2**31 - 1
LONG_MAX = 2**63 - 1
KAFKAS_NAMES = ConfigDict(alias_generator=lambda name: name.replace("_", "."))


class Section(BaseModel):
    """A mapping of moldau.yml: unknown keys are errors, fields answer to Kafka's names."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    inherits_default: ClassVar[bool] = False
    """Entries of a section that are such have what the entry `default` says."""

    accepted: ClassVar[frozenset[str]] = frozenset()
    """Other keys that an entry may have: nothing is made of them."""

    @classmethod
    def entries(cls, content: Any) -> Any:
        """The entries of a section that are such, by name, of what is written there."""
        return nothing_is_empty(content)

    @property
    def needs_spark(self) -> bool:
        """Whether it says something that DuckDB would read in another way."""
        return False

    def effective(self) -> dict[str, Any]:
        """What holds, by Kafka's names."""
        return self.model_dump(by_alias=True, exclude_none=True)

    def kept(self) -> dict[str, str]:
        """Columns of a stored row: the settings as JSON, and 16 hex digits that change with it."""
        settings = json.dumps(self.effective(), sort_keys=True, default=str)
        digest = hashlib.sha256(settings.encode()).hexdigest()[:16]
        return {"settings_hash": digest, "settings": settings}

    def named_clusters(self) -> tuple[str, ...]:
        """Clusters that an entry names."""
        return ()

    @model_validator(mode="before")
    @classmethod
    def _nothing_written(cls, content: Any) -> Any:
        """A section whose lines are all commented out is empty, not wrong."""
        return nothing_is_empty(content)


def nothing_is_empty(content: Any) -> Any:
    """YAML's null where a mapping is expected."""
    return {} if content is None else content


def _whole_number(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.removeprefix("-").isdigit() and len(text) <= 20:
            return int(text)
    if isinstance(value, bool) or not isinstance(value, int):
        raise PydanticCustomError("whole_number", "a whole number")
    return value


def _boolean(value: Any) -> Any:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise PydanticCustomError("boolean", "true or false")
    return value


def name_is_usable(name: Any) -> Any:
    """Names of clusters, flows and producers become column values and file names of reports."""
    if not isinstance(name, str):
        raise PydanticCustomError("name", "a name as text (put it in quotes)")
    if not name.strip() or any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise PydanticCustomError("name", "a non-empty name without control characters")
    return name


CleanupPolicy = Annotated[
    str, Field(pattern=r"^\s*((compact|delete)\s*(,\s*(compact|delete)\s*)*)?$")
]
Flag = Annotated[bool, BeforeValidator(_boolean)]
Name = Annotated[str, BeforeValidator(name_is_usable)]
Whole = Annotated[int, BeforeValidator(_whole_number)]
PositiveInt = Annotated[Whole, Field(ge=1, le=INT_MAX)]
SegmentBytes = Annotated[Whole, Field(ge=14, le=INT_MAX)]
Positive = Annotated[Whole, Field(ge=1, le=LONG_MAX)]
NotNegative = Annotated[Whole, Field(ge=0, le=LONG_MAX)]
IntFromMinusOne = Annotated[Whole, Field(ge=-1, le=INT_MAX)]
FromMinusOne = Annotated[Whole, Field(ge=-1, le=LONG_MAX)]
FromMinusTwo = Annotated[Whole, Field(ge=-2, le=LONG_MAX)]
