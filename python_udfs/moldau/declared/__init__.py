"""What the domains declare, for the layers below them, which import none of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from moldau.declared.domain import Domain, Kind, Question, Topics

__all__ = ["Domain", "Kind", "Question", "Topics", "domains", "kinds", "topics"]

_DECLARATIONS = "moldau.domains"  # each module in it that has a `DOMAIN`


@cache
def domains() -> tuple[Domain, ...]:
    """Every domain, by name."""
    names = [found.name for found in iter_modules(import_module(_DECLARATIONS).__path__)]
    modules = [import_module(f"{_DECLARATIONS}.{name}") for name in names]
    found = [module.DOMAIN for module in modules if hasattr(module, "DOMAIN")]
    return tuple(sorted(found, key=lambda domain: domain.name))


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind of run that decides, in the order in which `moldau run` runs them."""
    found = sorted((kind for one in domains() for kind in one.kinds), key=lambda kind: kind.place)
    return MappingProxyType({kind.name: kind for kind in found})


@cache
def topics() -> Mapping[str, Topics]:
    """Every family of topics that is decoded."""
    return MappingProxyType({found.family: found for one in domains() for found in one.topics})
