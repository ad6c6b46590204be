"""Metadata of producers: their settings are read; nothing is decided yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.domains.domain import Domain

if TYPE_CHECKING:
    from moldau.settings.fields import Section


def _producer() -> type[Section]:
    from moldau.settings.producer import ProducerSettings

    return ProducerSettings


DOMAIN = Domain(name="producers", sections={"producers": _producer}, has_cluster_rules=False)
