"""Which topology description plugin a cluster uses, checked when a verb that writes loads it."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from moldau.plugins.environment import UnsetVariable, values_named, with_environment
from moldau.plugins.masking import secrets_in, told, without
from moldau.plugins.registry import (
    DEFAULT_TIMEOUT_SECONDS,
    UnusablePlugin,
    check_options,
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

    @model_validator(mode="after")
    def _can_be_made(self, info: ValidationInfo) -> PluginSettings:
        """It can be loaded; an option that its constructor does not know, or lacks, is told by its
        own key. What its module says goes without secrets, as all that a plugin says."""
        if info.context == UNCHECKED:
            return self
        try:
            check_options(self.name, self.options)
            with_environment(self.options)
        except UnusablePlugin as problem:
            raise _mistake(
                problem.key,
                self.name if problem.key == "name" else told(self.options, ()).get(problem.key),
                None if problem.allowed is None else self._not_allowed(problem),
            ) from problem
        except UnsetVariable as problem:
            raise _mistake(problem.place, problem.shown, problem.allowed) from problem
        return self

    def _not_allowed(self, problem: UnusablePlugin) -> str:
        if problem.key != "name":
            return f"{problem.allowed}{suggestion(problem.key, problem.known)}"
        secrets = secrets_in(self.options, (), values_named(self.options))
        allowed = without(secrets, problem.allowed)  # its module's words are among these
        return f"{allowed}{suggestion(self.name, problem.known)}"

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


def _mistake(place: str | tuple[str, ...], given: Any, allowed: str | None) -> ValidationError:
    """`allowed`: None = the key is missing."""
    kind = PydanticCustomError("plugin", "{allowed}", {"allowed": allowed})
    loc = place if isinstance(place, tuple) else (place,)
    wrong = InitErrorDetails(type="missing" if allowed is None else kind, loc=loc, input=given)
    return ValidationError.from_exception_data("plugin", [wrong])
