"""Settings of flows, of MirrorMaker 2."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from moldau.settings.fields import Flag, Name, NotNegative, Section
from moldau.settings.rule_sets import RuleSet, default_rule_set


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise PydanticCustomError(
            "pattern", "a regular expression ({reason})", {"reason": str(error)}
        ) from None
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


class FlowSettings(Section):
    """One direction of mirroring; the filters are MirrorMaker 2's, with its defaults."""

    source: Name
    target: Name
    ruleset: Annotated[str, RuleSet("mirrors")] = Field(
        default_factory=lambda: default_rule_set("mirrors")
    )
    topics: Pattern = ".*"
    topics_exclude: Pattern | None = Field(default=None, alias="topics.exclude")
    groups: Pattern = ".*"
    groups_exclude: Pattern | None = Field(default=None, alias="groups.exclude")
    offset_lag_max: NotNegative | None = Field(default=None, alias="offset.lag.max")
    emit_checkpoints_enabled: Flag | None = Field(default=None, alias="emit.checkpoints.enabled")
    sync_group_offsets_enabled: Flag | None = Field(
        default=None, alias="sync.group.offsets.enabled"
    )
    replication_policy_class: str | None = Field(default=None, alias="replication.policy.class")
    replication_policy_separator: str | None = Field(
        default=None, alias="replication.policy.separator"
    )
