"""Which topology description plugin a cluster uses: its name is checked when settings load."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from pydantic import ConfigDict, field_validator
from pydantic_core import PydanticCustomError

from moldau.settings.fields import Section
from moldau.settings.problems import suggestion

ENTRY_POINT_GROUP = "moldau.topology_plugins"
BUILT_IN = ("delta", "directory", "webhook")
_SECRET_WORDS = ("password", "secret", "token", "key", "authorization", "credential", "headers")


class PluginSettings(Section):
    """`name` and, beside it, the options that the plugin is constructed with."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str

    @field_validator("name")
    @classmethod
    def _can_be_loaded(cls, name: str) -> str:
        if name not in BUILT_IN:
            _load(name)
        return name

    @property
    def options(self) -> dict[str, Any]:
        """Everything under `plugin:` except the name."""
        return dict(self.model_extra or {})

    def effective(self) -> dict[str, Any]:
        """Name and options for the records of a run; values that look secret are masked."""
        shown = {
            option: "***" if any(word in option.lower() for word in _SECRET_WORDS) else value
            for option, value in self.options.items()
        }
        return {"name": self.name, **shown}


def _load(name: str) -> None:
    """Refuse a plugin that is not installed or whose module does not import."""
    found = list(entry_points(group=ENTRY_POINT_GROUP))
    matching = [entry for entry in found if entry.name == name]
    if not matching:
        names = tuple(sorted({*BUILT_IN, *(entry.name for entry in found)}))
        raise PydanticCustomError(
            "plugin",
            "{allowed}",
            {
                "allowed": f"one of {', '.join(names)}, or another installed entry point of group "
                f"{ENTRY_POINT_GROUP}{suggestion(name, names)}"
            },
        )
    try:
        matching[0].load()
    except Exception as error:
        raise PydanticCustomError(
            "plugin",
            "{allowed}",
            {
                "allowed": f"a plugin that can be loaded ({matching[0].value} fails with "
                f"{type(error).__name__}: {' '.join(str(error).split())})"
            },
        ) from error
