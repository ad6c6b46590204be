"""Topic properties that the tiers domain reads, under Kafka's names."""

from __future__ import annotations

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from moldau.settings.fields import (
    KAFKAS_NAMES,
    CleanupPolicy,
    Flag,
    FromMinusOne,
    FromMinusTwo,
    NotNegative,
    Positive,
    Section,
    SegmentBytes,
)


class TopicSettings(Section):
    """What moldau.yml says about one topic; null = not said, so a loaded config or the broker's
    default holds. Times in ms, sizes in bytes; -1 = no limit, -2 = as the whole topic."""

    model_config = KAFKAS_NAMES

    remote_storage_enable: Flag | None = None
    retention_ms: FromMinusOne | None = None
    retention_bytes: FromMinusOne | None = None
    local_retention_ms: FromMinusTwo | None = None
    local_retention_bytes: FromMinusTwo | None = None
    remote_copy_lag_ms: FromMinusOne | None = None
    remote_copy_lag_bytes: FromMinusOne | None = None
    remote_log_copy_disable: Flag | None = None
    remote_log_delete_on_disable: Flag | None = None
    cleanup_policy: CleanupPolicy | None = None
    delete_retention_ms: NotNegative | None = None
    segment_bytes: SegmentBytes | None = None
    segment_ms: Positive | None = None

    @model_validator(mode="after")
    def _local_fits_into_total(self) -> TopicSettings:
        """Kafka refuses a local retention that is longer than the topic's."""
        for unit in ("ms", "bytes"):
            total = getattr(self, f"retention_{unit}")
            local = getattr(self, f"local_retention_{unit}")
            if total is None or local is None or total == -1 or local == -2:
                continue
            if local == -1 or local > total:
                raise PydanticCustomError(
                    "local_retention",
                    "from -2 to {total} (retention.{unit})",
                    {"key": f"local.retention.{unit}", "value": local, "total": total}
                    | {"unit": unit},
                )
        return self
