"""`spark:` of moldau.yml: properties of Spark, by its own names."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from moldau.settings.fields import nothing_is_empty


def _properties(told: Any) -> Any:
    """Values as Spark takes them, texts; what moldau rests on is refused."""
    told = nothing_is_empty(told)
    if not isinstance(told, dict) or not told:
        return told
    from moldau.engines.spark.profile import refusal

    found = {}
    for name, value in told.items():
        if not isinstance(value, str | int | float | bool):
            raise PydanticCustomError("spark", "{name}: a text or a number", {"name": name})
        if why := refusal(str(name)):
            raise PydanticCustomError(
                "spark", "properties of Spark but {name}: {why}", {"name": name, "why": why}
            )
        found[str(name)] = str(value).lower() if isinstance(value, bool) else str(value)
    return found


SparkProperties = Annotated[dict[str, str], BeforeValidator(_properties)]
