"""Which topology description plugin a cluster uses, checked when a verb that writes loads it."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from moldau.plugins.environment import UnsetVariable, with_environment
from moldau.plugins.masking import told
from moldau.plugins.registry import (
    DEFAULT_TIMEOUT_SECONDS,
    UnusablePlugin,
    check_options,
    plugin_class,
    public_options,
)
from moldau.settings.fields import Section
from moldau.settings.problems import suggestion

UNCHECKED = {"plugins": "unchecked"}
"""Context of a validation that loads no plugin and asks the environment for nothing."""


def _seconds(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0:
        raise PydanticCustomError("seconds", "a number of seconds above 0")
    return float(value)


class PluginSettings(Section):
    """`name`, how long a call may take, and the options that the plugin is constructed with."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str
    timeout_seconds: Annotated[float, BeforeValidator(_seconds)] = DEFAULT_TIMEOUT_SECONDS

    @field_validator("name")
    @classmethod
    def _can_be_loaded(cls, name: str, info: ValidationInfo) -> str:
        if info.context == UNCHECKED:
            return name
        try:
            plugin_class(name)
        except UnusablePlugin as problem:
            raise _not_allowed(problem, name) from problem
        return name

    @model_validator(mode="after")
    def _takes_its_options(self, info: ValidationInfo) -> PluginSettings:
        """An option that the constructor does not know, or lacks, is told by its own key."""
        if info.context == UNCHECKED:
            return self
        try:
            check_options(self.name, self.options)
            with_environment(self.options)
        except UnusablePlugin as problem:
            key = problem.key
            wrong = InitErrorDetails(
                type="missing" if problem.allowed is None else _not_allowed(problem, key),
                loc=(key,),
                input=told(self.options, ()).get(key),
            )
            raise ValidationError.from_exception_data("plugin", [wrong]) from problem
        except UnsetVariable as problem:
            allowed = PydanticCustomError("plugin", "{allowed}", {"allowed": problem.allowed})
            wrong = InitErrorDetails(type=allowed, loc=problem.place, input=problem.shown)
            raise ValidationError.from_exception_data("plugin", [wrong]) from problem
        return self

    @property
    def options(self) -> dict[str, Any]:
        """Everything under `plugin:` except the name and the time-out."""
        return dict(self.model_extra or {})

    def effective(self) -> dict[str, Any]:
        """What was given, for the records of a run, but `***` for what may be a secret."""
        shown = told(self.options, public_options(self.name))
        if "timeout_seconds" in self.model_fields_set:
            shown["timeout_seconds"] = self.timeout_seconds
        return {"name": self.name, **shown}

    def __repr_args__(self) -> Any:
        return self.effective().items()


def _not_allowed(problem: UnusablePlugin, given: str) -> PydanticCustomError:
    allowed = f"{problem.allowed}{suggestion(given, problem.known)}"
    return PydanticCustomError("plugin", "{allowed}", {"allowed": allowed})
