"""What pydantic found wrong, said in one line: key, value, what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_SHOWN_LETTERS = 80


def describe(error: ValidationError, model: type[BaseModel]) -> str:
    """The first problem in full, with the number of the others."""
    problems = error.errors(include_url=False)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return _describe(problems[0], model) + more


def suggestion(given: str, known: Iterable[str]) -> str:
    """`; did you mean X?` if a known name is close, else nothing."""
    close = difflib.get_close_matches(given, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _describe(problem: ErrorDetails, model: type[BaseModel]) -> str:
    steps = [str(step) for step in problem["loc"] if step != "[key]"]
    path = ".".join(_printable(step) for step in steps)
    is_plugin = steps[-1:] == ["plugin"]
    value = shown(_without_texts(problem["input"], hides_all=is_plugin))
    match problem["type"]:
        case "extra_forbidden":
            value = shown(_without_texts(problem["input"], hides_all=True))
            known = _keys_at(model, steps[:-1])
            hint = suggestion(steps[-1], known)
            return f"unknown key {path} (value {value}); known here: {', '.join(known)}{hint}"
        case "missing":
            return f"{path} is missing"
        case "local_retention":
            found = problem["ctx"]
            key = ".".join([*filter(None, [path]), found["key"]])
            return f"{key}: {found['value']} is not allowed; allowed is {problem['msg']}"
        case _:
            return f"{path}: {value} is not allowed; allowed is {_allowed(problem)}"


def _allowed(problem: ErrorDetails) -> str:
    context = problem.get("ctx", {})
    match problem["type"]:
        case "greater_than_equal":
            return f"a whole number of at least {context['ge']}"
        case "less_than_equal":
            return f"a whole number of at most {context['le']}"
        case "literal_error":
            return f"one of {context['expected'].replace(chr(39), '').replace(' or ', ', ')}"
        case "model_type" | "dict_type":
            return "a mapping of keys to values"
        case "string_type":
            return "text"
        case "string_pattern_mismatch":
            return "compact, delete or both with a comma"
        case _:
            return problem["msg"]


def shown(value: Any) -> str:
    """A value for a message: quoted, on one line, cut to a readable length."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= _SHOWN_LETTERS else text[:_SHOWN_LETTERS] + "..."


def _without_texts(value: Any, hides_all: bool) -> Any:
    """Stars for the texts in a mapping, which may be a plugin's options in a wrong place.

    `hides_all`: also for a text by itself.
    """
    if isinstance(value, dict):
        return {key: _without_texts(item, hides_all=True) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_texts(item, hides_all) for item in value]
    return "***" if hides_all and isinstance(value, str) else value


def _printable(step: str) -> str:
    return step if step.isprintable() and step else repr(step)


def _keys_at(model: Any, steps: list[str]) -> list[str]:
    """Known keys of the mapping that lies at `steps` below `model`."""
    for step in steps:
        model = _below(model, step)
    return sorted(field.alias or name for name, field in model.model_fields.items())


def _below(model: Any, step: str) -> Any:
    """The model of the mapping at `step`: of a field, or of each value of a dictionary."""
    if isinstance(model, type) and issubclass(model, BaseModel):
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        return _unwrap(fields[step].annotation)
    return _unwrap(model.__args__[1])


def _unwrap(annotation: Any) -> Any:
    """`X` of `X | None`."""
    choices = [a for a in getattr(annotation, "__args__", ()) if a is not type(None)]
    return choices[0] if len(choices) == 1 else annotation
