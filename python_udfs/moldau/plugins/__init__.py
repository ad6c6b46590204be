"""Plugins that store topology descriptions: Kafka's interface, in Python."""

from __future__ import annotations

from moldau.plugins.protocol import (
    PermanentFailure,
    TopologyDescriptionPlugin,
    TransientFailure,
    idempotency_key,
)

__all__ = ["PermanentFailure", "TopologyDescriptionPlugin", "TransientFailure", "idempotency_key"]
