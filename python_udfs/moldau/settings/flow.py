"""Settings of flows, of MirrorMaker 2."""

from __future__ import annotations

import re
import warnings
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from moldau.settings.fields import KAFKAS_NAMES, Flag, Name, NotNegative, Section
from moldau.settings.mirror_maker import NAMES, flow_properties, properties_of_all
from moldau.settings.rule_sets import RuleSet, default_rule_set

_KEEPS_NAMES, _RENAMES = "IdentityReplicationPolicy", "DefaultReplicationPolicy"
# what a regular expression of Java's has and Python's has not, each of which stands for something
_JAVA_ALONE = re.compile(r"\\Q.*?(?:\\E|$)|\\[pP](?:\{\w+\}|\w)|\\[hHRXGz]", re.ASCII)
# what Python's has and Java's has not
_PYTHON_ALONE = re.compile(r"\(\?(?:P|#|\()")

# what DuckDB's regular expressions have not, or read in another way
_UNLIKE_DUCKDBS = re.compile(
    r"\\(?![dDwWsSAztnrf]|[^A-Za-z0-9])|\(\?(?!:)|&&|[*+?}]\+|\[[^\]]*\[", re.ASCII
)


def _compiles(patterns: str) -> str:
    for pattern in _listed(patterns):
        told = _JAVA_ALONE.sub("x", pattern.replace(r"\\", "x"))
        if found := _PYTHON_ALONE.search(re.sub(r"\\.", "x", told)):
            raise _no_pattern(f"Java has no {found[0]}")
        try:
            with warnings.catch_warnings(action="ignore", category=FutureWarning):
                re.compile(told)
        except re.error as error:
            raise _no_pattern(str(error)) from None
    return patterns


def _no_pattern(reason: str) -> PydanticCustomError:
    return PydanticCustomError("pattern", "a regular expression ({reason})", {"reason": reason})


def _separates(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]+", text):
        raise PydanticCustomError("separator", "characters of Kafka's topic names: a-z, 0-9, ._-")
    return text


def _short(policy: str | None) -> str:
    """The name of a class without its package: everybody has an identity policy of his own."""
    return (policy or "").split(".")[-1]


def _writes_syncs(is_enabled: bool) -> bool:
    """Kafka: MirrorCheckpointConfig refuses it, too (KIP-1031)."""
    if not is_enabled:
        raise PydanticCustomError("syncs", "true: without offset syncs nothing can be translated")
    return is_enabled


def _listed(patterns: str) -> list[str]:
    """MirrorMaker takes a list: a comma separates patterns even within braces."""
    return [pattern.strip() for pattern in patterns.split(",")] if patterns.strip() else []


def _joined(patterns: str) -> str | None:
    """One pattern that a name matches as a whole; None = no name does."""
    listed = _listed(patterns)
    return rf"\A(?:(?:{')|(?:'.join(listed)}))\z" if listed else None


Patterns = Annotated[str, AfterValidator(_compiles)]


class FlowSettings(Section):
    """One direction of mirroring; the filters are MirrorMaker 2's, with its defaults."""

    model_config = KAFKAS_NAMES

    source: Name
    target: Name
    ruleset: Annotated[str, RuleSet("mirrors")] = Field(
        default_factory=lambda: default_rule_set("mirrors")
    )
    topics: Patterns = ".*"
    topics_exclude: Patterns = r".*[\-\.]internal, .*\.replica, __.*"
    groups: Patterns = ".*"
    groups_exclude: Patterns = "console-consumer-.*, connect-.*, __.*"
    clamp_first: Flag = Field(default=False, alias="clamp_first")
    anchored: Flag = False
    exactly_once_source_support: Literal["disabled", "preparing", "enabled"] = "disabled"
    offset_syncs_topic_location: Literal["source", "target"] = Field(
        default="source", alias="offset-syncs.topic.location"
    )
    offset_lag_max: NotNegative | None = None
    emit_offset_syncs_enabled: Annotated[Flag, AfterValidator(_writes_syncs)] | None = Field(
        default=None, alias="emit.offset-syncs.enabled"
    )
    emit_checkpoints_enabled: Flag | None = None
    sync_group_offsets_enabled: Flag | None = None
    topics_renamed: Flag | None = None
    replication_policy_class: str | None = None
    replication_policy_separator: Annotated[str, AfterValidator(_separates)] = "."
    internal_topic_separator_enabled: Flag = Field(
        default=True, alias="replication.policy.internal.topic.separator.enabled"
    )

    accepted: ClassVar[frozenset[str]] = NAMES

    @classmethod
    def _own(cls) -> set[str]:
        return {field.alias or name for name, field in cls.model_fields.items()}

    @classmethod
    def entries(cls, content: Any) -> Any:
        """What stands among the flows is of all of them, as in MirrorMaker's own file."""
        if isinstance(content, dict):
            return properties_of_all(content, cls._own())
        return super().entries(content)

    @model_validator(mode="before")
    @classmethod
    def _as_mirror_maker_says_it(cls, content: Any) -> Any:
        return flow_properties(content, cls._own()) if isinstance(content, dict) else content

    @field_validator("replication_policy_class")
    @classmethod
    def _names_topics_in_a_known_way(cls, name: str | None, info: ValidationInfo) -> str | None:
        """What a class of somebody's own does only its owner can say."""
        is_renamed, known = info.data.get("topics_renamed"), _short(name)
        if name is None or (known not in (_KEEPS_NAMES, _RENAMES) and is_renamed is not None):
            return name
        if known not in (_KEEPS_NAMES, _RENAMES):
            raise PydanticCustomError(
                "policy",
                f"{_RENAMES} or {_KEEPS_NAMES}, or any other with `topics.renamed: false` if "
                "topics keep their names on the target, `topics.renamed: true` if they get the "
                "source's alias before them",
            )
        if is_renamed is (known == _KEEPS_NAMES):
            raise PydanticCustomError(
                "policy", f"another class, or `topics.renamed: {str(not is_renamed).lower()}`"
            )
        return name

    @model_validator(mode="after")
    def _goes_somewhere(self) -> FlowSettings:
        if self.source == self.target:
            raise PydanticCustomError(
                "same_cluster",
                "another cluster than the source",
                {"key": "target", "value": repr(self.target)},
            )
        return self

    @property
    def needs_spark(self) -> bool:
        patterns = (self.topics, self.topics_exclude, self.groups, self.groups_exclude)
        return any(map(_UNLIKE_DUCKDBS.search, patterns))

    @property
    def keeps_topic_names(self) -> bool:
        if self.topics_renamed is not None:
            return not self.topics_renamed
        return _short(self.replication_policy_class) == _KEEPS_NAMES

    def named_clusters(self) -> tuple[str, ...]:
        return (self.source, self.target)

    def row(self) -> dict[str, Any]:
        """What of a row of state.flows follows from the settings alone."""
        in_source = self.offset_syncs_topic_location == "source"
        other = self.target if in_source else self.source
        # KIP-949: MirrorMaker before 3.1 named its own topics with dots whatever the separator was
        within = self.replication_policy_separator if self.internal_topic_separator_enabled else "."
        return {
            "source_cluster_id": self.source,
            "target_cluster_id": self.target,
            "ruleset": self.ruleset,
            "topics_pattern": _joined(self.topics) or r"\A\z",
            "topics_excluded_pattern": _joined(self.topics_exclude),
            "groups_pattern": _joined(self.groups) or r"\A\z",
            "groups_excluded_pattern": _joined(self.groups_exclude),
            "separator": self.replication_policy_separator,
            "syncs_cluster_id": self.source if in_source else self.target,
            "syncs_topic_name": within.join(("mm2-offset-syncs", other, "internal")),
            "checkpoints_topic_name": within.join((self.source, "checkpoints", "internal")),
            "keeps_topic_names": self.keeps_topic_names,
            "clamp_first": self.clamp_first,
            "anchored": self.anchored,
            "is_exactly_once": self.exactly_once_source_support == "enabled",
            **self.kept(),
        }
