"""Read a YAML mapping; errors name file and line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from moldau.errors import MoldauError


class _Loader(yaml.SafeLoader):
    """The safe loader, except that a key given twice is an error instead of a silent choice."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    seen: set[Any] = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":
            continue
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str | int | float | bool | None):
            raise yaml.constructor.ConstructorError(
                None, None, "a key must be plain text", key_node.start_mark
            )
        if key in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"the key {key!r} is given twice", key_node.start_mark
            )
        seen.add(key)
    loader.flatten_mapping(node)
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path, *, is_required: bool) -> dict[Any, Any] | None:
    """The mapping in `path`; {} for an empty file, None if it is missing and may be."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        if is_required:
            raise MoldauError(f"the settings file {path} does not exist") from None
        return None
    except UnicodeDecodeError as error:
        raise MoldauError(f"{path} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise MoldauError(f"cannot read {path}: {error.strerror}") from None
    try:
        content = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        said = error.problem or error.context or ""
        said = re.sub(r"(alias|anchor|tag) '[^']*'", r"\1 ***", said)  # a secret without quotes
        raise MoldauError(f"{path}, line {line}: {said}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise MoldauError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise MoldauError(f"{path}: a mapping such as 'clusters:' is expected at the top")
    return content
