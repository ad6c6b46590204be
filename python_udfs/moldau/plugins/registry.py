"""Find a plugin by its entry point, check what moldau.yml says about it, construct it."""

from __future__ import annotations

import functools
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from typing import Any

from moldau.errors import MoldauError
from moldau.plugins.environment import UnsetVariable, values_named, with_environment
from moldau.plugins.masking import secrets_in

ENTRY_POINT_GROUP = "moldau.topology_plugins"
DEFAULT_TIMEOUT_SECONDS = 10.0
_IMPORT_SECONDS = 30.0
_ALIVE = "moldau: alive"
_IMPORT = f"""
import sys
from importlib.metadata import EntryPoint
try:
    EntryPoint("plugin", sys.argv[1], "plugins").load()
except BaseException:
    pass
sys.stderr.write("{_ALIVE}")
sys.stderr.flush()
"""


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
    options: dict[str, Any] = field(repr=False)
    """As they stand in moldau.yml: references to the environment are not replaced."""
    cluster_id: str
    warehouse: str
    folder: str
    """What relative paths in the options are relative to."""
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS


def plugin_names() -> tuple[str, ...]:
    """Every plugin that is installed, the built-in ones among them."""
    return tuple(sorted(_installed(tuple(sys.path)).names))


def plugin_class(name: str) -> Callable[..., Any]:
    """What the entry point `name` stands for.

    UnusablePlugin if there is none or more than one, or if it cannot be imported.
    """
    entries = _installed(tuple(sys.path)).select(name=name)
    if not entries:  # it may have been installed since
        _installed.cache_clear()
        entries = _installed(tuple(sys.path)).select(name=name)
    found = sorted({entry.value for entry in entries})
    if not found:
        names = plugin_names()
        allowed = f"one of {', '.join(names)}, or another installed entry point of group "
        raise UnusablePlugin("name", allowed + ENTRY_POINT_GROUP, names)
    if len(found) > 1:
        raise UnusablePlugin("name", f"a name of one plugin (this is {' and '.join(found)})")
    entry = next(iter(entries))
    if problem := _import_problem(entry.value):
        raise UnusablePlugin("name", f"a plugin that can be loaded ({entry.value} {problem})")
    try:
        loaded = entry.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        allowed = f"a plugin that can be loaded ({entry.value} fails with {reason})"
        raise UnusablePlugin("name", allowed) from error
    if not callable(loaded):
        raise UnusablePlugin("name", f"a plugin class ({entry.value} is none)")
    return loaded  # type: ignore[no-any-return]


@functools.cache
def _installed(path: tuple[str, ...]) -> EntryPoints:
    """The plugins on this path: Python looks through every distribution for them."""
    return entry_points(group=ENTRY_POINT_GROUP)


@functools.cache
def _import_problem(value: str) -> str | None:
    """What another process says of the import: a module may end, or hold, the one it is loaded in.

    What it raises is told where it is loaded then.
    """
    if value.startswith("moldau."):
        return None
    path = os.pathsep.join(filter(None, sys.path))
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _IMPORT, value],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=_IMPORT_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"is not imported in {_IMPORT_SECONDS:g} s"
    if not tried.stderr.endswith(_ALIVE.encode()):
        return f"ends the process that imports it, with code {tried.returncode}"
    return None


def public_options(name: str) -> tuple[str, ...]:
    """The options that the plugin's class names as no secrets; none if it cannot be loaded."""
    try:
        named = getattr(plugin_class(name), "public_options", ())
    except UnusablePlugin:
        return ()
    return tuple(named) if isinstance(named, list | tuple | set | frozenset) else ()


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
    """A new instance; whatever its constructor or its `open` raises is raised.

    UnsetVariable if an option names a variable that is not in this process's environment.
    """
    plugin = plugin_class(spec.name)(**with_environment(spec.options))
    opened = getattr(plugin, "open", None)
    if callable(opened):
        opened(spec.cluster_id, Path(spec.warehouse), Path(spec.folder))
    return plugin


def secrets_of(spec: PluginSpec, public: Collection[str] | None = None) -> list[str]:
    """What nobody is told of the plugin's options, as this process's environment fills them.

    `public`: its `public_options`, where they are known.
    """
    public = public_options(spec.name) if public is None else public
    named = values_named(spec.options)
    try:
        return secrets_in(with_environment(spec.options), public, named)
    except UnsetVariable:
        return secrets_in(spec.options, public, named)
