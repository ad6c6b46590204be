"""Sort a pasted block of MirrorMaker's properties: those of the flow, and those to ignore.

MirrorMaker has a property for one flow as `east->west.topics`, for all as `topics`, and those of
a cluster's clients and workers as `east.bootstrap.servers` or `east.producer.acks`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from pydantic_core import PydanticCustomError

from moldau.settings.mirror_maker_names import OF_CLIENTS, OF_CONNECTORS, OF_WORKERS

NAMES = OF_CONNECTORS | OF_WORKERS | OF_CLIENTS
_OF_A_FLOW = re.compile(r"[^>]+->[^.]+\.")
_OF_A_CLIENT = re.compile(r"(?:producer|consumer|admin)\.(?:override\.)?")
_OF_A_LISTENER = re.compile(r"(?:admin\.)?listeners\.https\.")
# what stands behind these is a plugin's, or a topic's own
_OPEN = re.compile(
    r"(?:key|value|header)\.converter\..+|(?:config\.providers|transforms|predicates)\.[^.]+\..+"
    r"|topic\.creation\.[^.]+\..+|metrics\.context\..+"
)
_BEFORE_2_6 = {"topics.blacklist": "topics.exclude", "groups.blacklist": "groups.exclude"}
# the worker that mirrors into a cluster has the cluster's properties, and no flow's:
# MirrorMakerConfig.workerConfig
_OF_THE_TARGET = ("exactly.once.source.support",)


def flow_properties(told: dict[Any, Any], own: Collection[str]) -> dict[Any, Any]:
    """The keys of a flow, `own`, whatever way MirrorMaker says them, and those that it has not.

    What is said of this flow goes before what is said of all, and that before what is said of its
    target. Other properties of MirrorMaker, its workers and its clients are left out."""
    target = told.get("target")
    prefixes = (f"{told.get('source')}->{target}.", "", f"{target}.")
    found: dict[Any, Any] = {}
    places: dict[str, int] = {}
    for key, value in told.items():
        place, name = _own_name(str(key), prefixes, own)
        if name is None:
            if not is_mirror_makers(str(key), own, _aliases(told)):
                found[key] = value
        elif places.get(name, len(prefixes) * 2) > place:
            found[name], places[name] = value, place
    return found


def properties_of_all(told: dict[Any, Any], own: Collection[str]) -> dict[Any, Any]:
    """The flows among `told`, each with the properties that stand beside them."""
    flows = {name: flow for name, flow in told.items() if isinstance(flow, dict)}
    aliases = {alias for flow in (told, *flows.values()) for alias in _aliases(flow)}
    shared = {
        key: value
        for key, value in told.items()
        if key not in flows
        and value is not None
        and (key in own or is_mirror_makers(str(key), own, aliases))
    }
    if shared and not flows:
        raise PydanticCustomError(
            "flows", "flows by their names, each with its `source` and `target`"
        )
    others = {key: value for key, value in told.items() if key not in shared}
    return others | {name: shared | flow for name, flow in flows.items()}


def _own_name(key: str, prefixes: tuple[str, ...], own: Collection[str]) -> tuple[int, str | None]:
    """Which key of a flow this one is, if any, and how much it has to say: 0 is most."""
    for place, prefix in enumerate(prefixes):
        name = key.removeprefix(prefix)
        is_allowed = place == 1 or (place == 2) == (name in _OF_THE_TARGET)
        if key.startswith(prefix) and is_allowed:
            if name in own:
                return 2 * place, name
            if name in _BEFORE_2_6:
                return 2 * place + 1, _BEFORE_2_6[name]
    return 0, None


def _aliases(told: dict[Any, Any]) -> tuple[str, ...]:
    named = str(told.get("clusters", "")).split(",")
    ends = (told.get("source"), told.get("target"), "source", "target")
    return tuple(str(alias).strip() for alias in (*ends, *named) if str(alias).strip())


def is_mirror_makers(key: str, own: Collection[str], aliases: Collection[str]) -> bool:
    """Whether a MirrorMaker between clusters of these aliases has such a property."""
    if of_a_flow := _OF_A_FLOW.match(key):
        name = key[of_a_flow.end() :]
        return name in own or name in _BEFORE_2_6 or _has(name)
    if _has(key):
        return True
    for alias in aliases:
        name = key.removeprefix(f"{alias}.").removeprefix("cluster.")
        if key.startswith(f"{alias}.") and (_has(name) or name in _OF_THE_TARGET):
            return True
    return False


def _has(name: str) -> bool:
    of_a_client, of_a_listener = _OF_A_CLIENT.match(name), _OF_A_LISTENER.match(name)
    return (
        name in NAMES
        or _OPEN.fullmatch(name) is not None
        or (of_a_client is not None and name[of_a_client.end() :] in OF_CLIENTS)
        or (of_a_listener is not None and name[of_a_listener.end() :] in OF_WORKERS | OF_CLIENTS)
    )
