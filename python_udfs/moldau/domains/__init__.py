"""The domains of moldau: each module here that has a `DOMAIN` is one, declared there alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from moldau.domains.domain import Domain, Kind, Question, Topics

__all__ = ["Domain", "Kind", "Question", "Topics", "domains", "kinds", "topics"]


@cache
def domains() -> tuple[Domain, ...]:
    """Every domain, by name."""
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
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
