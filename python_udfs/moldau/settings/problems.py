"""Describe what pydantic found wrong in one line: key, value, and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_SHOWN_LETTERS = 80
_UNKNOWN = "extra_forbidden"
_MAY_HOLD_SECRETS = {"plugin", "properties", "spark"}


def describe(error: ValidationError, model: type[BaseModel]) -> str:
    """The first problem in full, every key that is not known, and the number of the others."""
    problems = error.errors(include_url=False)
    unknown = [problem for problem in problems if problem["type"] == _UNKNOWN]
    others = [problem for problem in problems if problem["type"] != _UNKNOWN]
    told = [_describe_unknown(unknown, model)] if unknown else []
    if problems[0]["type"] != _UNKNOWN:
        told = [_describe(others.pop(0)), *told]
    return "; ".join(told) + (f" (and {len(others)} more)" if others else "")


def suggestion(given: str, known: Iterable[str]) -> str:
    """`; did you mean X?` if a known name is close, else nothing."""
    close = _close(given, known)
    return f"; did you mean {close}?" if close else ""


def _close(given: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    return next(iter(difflib.get_close_matches(given, list(known), n=1, cutoff=cutoff)), None)


def _describe_unknown(problems: list[ErrorDetails], model: type[BaseModel]) -> str:
    """Those of one mapping together, with the keys that it may have."""
    places: dict[tuple[str, ...], list[ErrorDetails]] = {}
    for problem in problems:
        places.setdefault(tuple(_steps(problem)[:-1]), []).append(problem)
    return "; ".join(_describe_place(list(at), found, model) for at, found in places.items())


def _describe_place(at: list[str], problems: list[ErrorDetails], model: type[BaseModel]) -> str:
    known, accepted = _keys_at(model, at)
    told = []
    for problem in problems:
        name = _steps(problem)[-1]
        # a text may be a secret, but not that of a mistyped key that takes none
        meant = _close(name, [*known, *accepted], cutoff=0.85)
        is_secret = meant not in set(known) - _MAY_HOLD_SECRETS
        value = shown(_without_texts(problem["input"], hides_all=is_secret))
        hint = suggestion(name, [*known, *accepted])
        told.append((f"{_path([*at, name])} (value {value})", hint))
    if len(told) == 1:
        [(name, hint)] = told
        return f"unknown key {name}; known here: {', '.join(known)}{hint}"
    listed = ", ".join(name + hint.replace("; ", ", ", 1) for name, hint in told)
    return f"unknown keys {listed}; known here: {', '.join(known)}"


def _steps(problem: ErrorDetails) -> list[str]:
    return [str(step) for step in problem["loc"] if step != "[key]"]


def _path(steps: list[str]) -> str:
    return ".".join(_printable(step) for step in steps)


def _describe(problem: ErrorDetails) -> str:
    steps = _steps(problem)
    path = _path(steps)
    is_plugin = steps[-1:] == ["plugin"]
    value = shown(_without_texts(problem["input"], hides_all=is_plugin))
    match problem["type"]:
        case "missing":
            return f"{path} is missing"
        case "local_retention" | "same_cluster":
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


def _keys_at(model: Any, steps: list[str]) -> tuple[list[str], frozenset[str]]:
    """Known keys of the mapping that lies at `steps` below `model`, and those that it accepts."""
    for step in steps:
        model = _below(model, step)
    known = sorted(field.alias or name for name, field in model.model_fields.items())
    return known, getattr(model, "accepted", frozenset())


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
