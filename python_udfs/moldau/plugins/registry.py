"""Find a plugin by its entry point, check what moldau.yml says about it, construct it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from moldau.errors import MoldauError

ENTRY_POINT_GROUP = "moldau.topology_plugins"
DEFAULT_TIMEOUT_SECONDS = 10.0


class UnusablePlugin(MoldauError):
    """What is wrong under `plugin:`; the key, and what is allowed there (None = it is missing)."""

    def __init__(self, key: str, allowed: str | None, known: tuple[str, ...] = ()) -> None:
        self.key, self.allowed, self.known = key, allowed, known
        wrong = "is missing" if allowed is None else f"is not allowed; allowed is {allowed}"
        super().__init__(f"plugin.{key} {wrong}")


@dataclass(frozen=True)
class PluginSpec:
    """All that a worker process needs to construct the plugin of a cluster."""

    name: str
    options: dict[str, Any]
    cluster_id: str
    warehouse: str
    folder: str
    """What relative paths in the options are relative to."""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS


def plugin_names() -> tuple[str, ...]:
    """Every plugin that is installed, the built-in ones among them."""
    return tuple(sorted({entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)}))


def plugin_class(name: str) -> Callable[..., Any]:
    """What the entry point `name` stands for.

    UnusablePlugin if there is none or more than one, or if it cannot be imported.
    """
    found = sorted({entry.value for entry in entry_points(group=ENTRY_POINT_GROUP, name=name)})
    if not found:
        names = plugin_names()
        allowed = f"one of {', '.join(names)}, or another installed entry point of group "
        raise UnusablePlugin("name", allowed + ENTRY_POINT_GROUP, names)
    if len(found) > 1:
        raise UnusablePlugin("name", f"a name of one plugin (this is {' and '.join(found)})")
    entry = next(iter(entry_points(group=ENTRY_POINT_GROUP, name=name)))
    try:
        loaded = entry.load()
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        allowed = f"a plugin that can be loaded ({entry.value} fails with {reason})"
        raise UnusablePlugin("name", allowed) from error
    if not callable(loaded):
        raise UnusablePlugin("name", f"a plugin class ({entry.value} is none)")
    return loaded  # type: ignore[no-any-return]


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """UnusablePlugin for the first option that the plugin's constructor does not take or lacks."""
    constructor = plugin_class(name)
    try:
        parameters = inspect.signature(constructor).parameters.values()
    except (TypeError, ValueError):
        return  # a class of an extension module may not say what it takes
    kinds = inspect.Parameter
    named = [p for p in parameters if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]
    known = tuple(parameter.name for parameter in named)
    if not any(parameter.kind is kinds.VAR_KEYWORD for parameter in parameters):
        for option in options:
            if option not in known:
                listed = ", ".join(known) or "none"
                raise UnusablePlugin(option, f"an option of plugin {name} ({listed})", known)
    for parameter in named:
        if parameter.default is kinds.empty and parameter.name not in options:
            raise UnusablePlugin(parameter.name, None)


def make_plugin(spec: PluginSpec) -> Any:
    """A new instance; whatever its constructor or its `open` raises is raised."""
    plugin = plugin_class(spec.name)(**spec.options)
    opened = getattr(plugin, "open", None)
    if callable(opened):
        opened(spec.cluster_id, Path(spec.warehouse), Path(spec.folder))
    return plugin
