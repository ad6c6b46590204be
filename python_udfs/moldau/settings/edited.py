"""Write how a cluster is reached into moldau.yml, and leave every other letter of it as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from moldau.errors import MoldauError
from moldau.settings.yaml_file import read_yaml
from moldau.warehouse.durable import fsync, whole_file

_CLUSTERS = "clusters"
_INDENT = "  "
# plain in a block and between braces, too
_PLAIN = re.compile(r"[A-Za-z0-9_./~][A-Za-z0-9_./:~-]*")


def write_cluster(path: Path, name: str, keys: Mapping[str, str]) -> None:
    """Set these keys of a cluster, which is added if it is not there; so is the file.

    The file is replaced when the new one is complete. MoldauError if its form is such that the
    keys cannot be set without touching more.
    """
    before = read_yaml(path, is_required=False) or {}
    target = path.resolve()
    text = target.read_bytes().decode("utf-8") if target.exists() else ""
    edited = edit(text, name, keys)
    clusters = dict(before.get(_CLUSTERS) or {})
    clusters[name] = {**(clusters.get(name) or {}), **keys}
    if edited is None or _content(edited) != {**before, _CLUSTERS: clusters}:
        raise MoldauError(
            f"{path} is written in a way that moldau does not edit; put this there by hand: "
            f"{_Entry(_CLUSTERS, _Entry(name, keys)).flow()}"
        )
    _replace(target, edited)


def _content(text: str) -> Any:
    try:
        return yaml.safe_load(text.removeprefix("\ufeff"))
    except yaml.YAMLError:
        return None


def edit(text: str, name: str, keys: Mapping[str, str]) -> str | None:
    """The text with these keys of a cluster; None = nothing fits into its form."""
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    told = _Text(text, end_of_line)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    cluster = _Entry(name, keys)
    if root is None:
        told.put_at_end([_CLUSTERS + ":", *cluster.lines(_INDENT)])
        return told.text
    if not isinstance(root, yaml.MappingNode):
        return None
    clusters = _value(root, _CLUSTERS)
    if clusters is None:
        told.put(root, _Entry(_CLUSTERS, cluster))
    elif not isinstance(clusters, yaml.MappingNode):
        told.fill(clusters, cluster)
    elif (found := _value(clusters, name)) is None:
        told.put(clusters, cluster)
    else:
        return _changed(told, found, keys)
    return told.text


def _changed(told: _Text, cluster: yaml.Node, keys: Mapping[str, str]) -> str | None:
    """The last one first: what stands before it stays where it is."""
    if not isinstance(cluster, yaml.MappingNode):
        told.fill(cluster, *(_Entry(key, value) for key, value in keys.items()))
        return told.text
    present = {key: value for key in keys if (value := _value(cluster, key)) is not None}
    for key in [key for key in keys if key not in present][::-1]:
        told.put(cluster, _Entry(key, keys[key]))
    for key in sorted(present, key=lambda key: -present[key].start_mark.index):
        node = present[key]
        is_block = isinstance(node, yaml.CollectionNode) and not node.flow_style
        if is_block or (isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")):
            return None
        told.replace(node, _scalar(keys[key]))
    return told.text


class _Entry:
    """A key and what it stands for: a text, other entries by key, or one entry."""

    def __init__(self, key: str, value: str | Mapping[str, str] | _Entry) -> None:
        self.key = _scalar(key)
        if isinstance(value, Mapping):
            self.inner = [_Entry(name, text) for name, text in value.items()]
        else:
            self.inner = [value] if isinstance(value, _Entry) else []
        self.text = _scalar(value) if isinstance(value, str) else ""

    def lines(self, indent: str) -> list[str]:
        inner = [line for entry in self.inner for line in entry.lines(indent + _INDENT)]
        return [f"{indent}{self.key}:{' ' * bool(self.text)}{self.text}", *inner]

    def flow(self) -> str:
        inner = ", ".join(entry.flow() for entry in self.inner)
        return f"{self.key}: {self.text or '{' + inner + '}'}"


class _Text:
    def __init__(self, text: str, end_of_line: str) -> None:
        self.text = text
        self._end_of_line = end_of_line

    def put(self, mapping: yaml.MappingNode, entry: _Entry) -> None:
        """As the last entry of a mapping that has been composed of this text."""
        if mapping.flow_style:
            at = mapping.end_mark.index - 1
            told = (", " if mapping.value else "") + entry.flow()
            kept = self.text[:at].rstrip()
            if kept.endswith(","):  # before the brace
                told = " " + told.removeprefix(", ")
            self.text = kept + told + self.text[len(kept) :]
            return
        column = mapping.value[0][0].start_mark.column
        self._put_behind(_end(mapping), entry.lines(" " * column))

    def fill(self, nothing: yaml.Node, *entries: _Entry) -> None:
        """In the place of a null."""
        told = "{" + ", ".join(entry.flow() for entry in entries) + "}"
        blank = "" if self.text[nothing.start_mark.index - 1].isspace() else " "
        self.replace(nothing, blank + told)

    def replace(self, node: yaml.Node, told: str) -> None:
        start, end = node.start_mark.index, node.end_mark.index
        self.text = self.text[:start] + told + self.text[end:]

    def put_at_end(self, lines: list[str]) -> None:
        self._put_behind(len(self.text), lines)

    def _put_behind(self, at: int, lines: list[str]) -> None:
        """Whole lines, behind the line in which this place is."""
        if at and self.text[at - 1] != "\n":
            at = self.text.find("\n", at) + 1 or len(self.text)
        before = self.text[:at]
        if before and not before.endswith("\n"):
            before += self._end_of_line
        added = "".join(line + self._end_of_line for line in lines)
        self.text = before + added + self.text[at:]


def _value(mapping: yaml.MappingNode, name: str) -> yaml.Node | None:
    for key, value in mapping.value:
        if isinstance(key, yaml.ScalarNode) and key.value == name:
            return value  # type: ignore[no-any-return]
    return None


def _end(node: yaml.Node) -> int:
    """Where the last letter of it is: a block ends for YAML where the next one begins."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _end(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _end(node.value[-1])
    return int(node.end_mark.index)


def _scalar(text: str) -> str:
    if _PLAIN.fullmatch(text) and yaml.safe_load(text) == text:
        return text
    return json.dumps(text, ensure_ascii=False)


def _replace(path: Path, text: str) -> None:
    """The file as a whole, with the rights that it had."""
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    with whole_file(path) as unfinished:
        unfinished.touch(mode=0o600)
        unfinished.write_bytes(text.encode())
        unfinished.chmod(mode)
        fsync(unfinished)
    fsync(path.parent)
