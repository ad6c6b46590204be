"""The groups that coordinators list, of all types: rows of `group_listings`."""

from __future__ import annotations

import re
import time
from typing import Any

from confluent_kafka import KafkaError
from kafka.protocol.admin import ListGroupsRequest

from moldau.collecting.asker import Asker, error_name
from moldau.domains.groups import GROUP_STATES, GROUP_TYPES
from moldau.errors import MoldauError
from moldau.instants import now_ms

_LOADING = {KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError._WAIT_COORD}
_PAUSE_S = 0.5
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])")


def group_listings(asker: Asker) -> list[dict[str, Any]]:
    """A row for each group that the client may DESCRIBE; brokers pass over the others.

    MoldauError if a broker tells nothing: without its groups the list would be another one.
    """
    return [row for broker_id in asker.broker_ids for row in _listed_by(asker, broker_id)]


def _listed_by(asker: Asker, broker_id: int) -> list[dict[str, Any]]:
    deadline = time.monotonic() + asker.timeout
    while True:
        taken_at_ms = now_ms()
        answer = asker.ask(ListGroupsRequest(states_filter=[], types_filter=[]), broker_id)
        if answer.error_code not in _LOADING or time.monotonic() > deadline:
            break
        time.sleep(_PAUSE_S)
    if answer.error_code:
        raise MoldauError(f"broker {broker_id} lists no groups: {error_name(answer.error_code)}")
    return [_row(told, broker_id, taken_at_ms) for told in answer.groups]


def _row(told: Any, broker_id: int, taken_at_ms: int) -> dict[str, Any]:
    group_type = (getattr(told, "group_type", None) or "").lower()
    state = _WORDS.sub("_", getattr(told, "group_state", None) or "").upper()
    return {
        "group_id": told.group_id,
        "group_type": group_type if group_type in GROUP_TYPES else None,
        "group_state": state if state in GROUP_STATES else "UNKNOWN",
        "protocol_type": told.protocol_type,
        "coordinator_id": broker_id,
        # as Kafka's own GroupListing.isSimpleConsumerGroup
        "is_simple": group_type in ("", "classic") and not told.protocol_type,
        "taken_at_ms": taken_at_ms,
    }
