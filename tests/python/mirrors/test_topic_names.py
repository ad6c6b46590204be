"""Names of topics on the other cluster and of MirrorMaker's own, as its policies give them."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from jinja2 import Environment
from listed_mirror_cases import NAME_CASES

from moldau.engines.duckdb.translation import MACROS, to_duckdb
from moldau.project import ROOT
from moldau.records.families import family_of
from moldau.settings import load_settings
from moldau.settings.flow import FlowSettings

# DefaultReplicationPolicy splits at separators, and has none behind the last name
MORE_NAMES = {
    "target2.my.topic": "topic",
    "target2": "source1.target2",
    "target2.": "source1.target2.",
    "target2.a.": "a.",
    "target2..a": "a",
    "target22.a": "source1.target22.a",
    "a.target2.b": "source1.a.target2.b",
}


def macro(name: str, topic: str, separator: str = ".", keeps_topic_names: bool = False) -> str:
    """What a macro of topic_renaming.sql makes of a topic, in the flow source1 -> target2."""
    text = (ROOT / "macros" / "topic_renaming.sql").read_text()
    renamed = getattr(Environment().from_string(text).module, name)("flows", "topic")
    sql = to_duckdb(
        f"select {renamed} as renamed from (select 'source1' as source_cluster_id, "
        f"'target2' as target_cluster_id, '{separator}' as separator, "
        f"{str(keeps_topic_names).lower()} as keeps_topic_names) as flows "
        f"cross join (select '{topic}' as topic)"
    )
    with duckdb.connect() as connection:
        for made in MACROS:
            connection.execute(made)
        [(found,)] = connection.execute(sql).fetchall()
    return str(found)


@pytest.mark.parametrize(("topic", "there"), {**NAME_CASES, **MORE_NAMES}.items())
def test_124_a_topic_is_mirrored_under_the_alias_or_comes_home(topic: str, there: str) -> None:
    assert macro("target_topic_name", topic) == there
    assert macro("target_topic_name", topic.replace(".", "__"), "__") == there.replace(".", "__")
    assert macro("target_topic_name", topic, keeps_topic_names=True) == topic


@pytest.mark.parametrize(
    ("pattern", "needs_spark"),
    {
        ".*": False, r"a\.b|[\-.]c\d+": False, "(?:a|b)?": False, "(?!a).*": True,
        r"\p{Alpha}": True, "[a-z&&[^b]]": True, "a++": True, r"(a)\1": True, r"\Qa.b\E": True,
    }.items(),
)  # fmt: skip
def test_patterns_that_duckdb_reads_in_another_way_are_sparks(
    pattern: str, needs_spark: bool
) -> None:
    told = {"source": "a", "target": "b", "groups": pattern}
    assert FlowSettings.model_validate(told).needs_spark is needs_spark


def test_separators_are_found_from_the_left() -> None:
    """As Java's split finds them."""
    assert macro("target_topic_name", "target2___a", "__") == "_a"
    assert macro("target_topic_name", "target2____a", "__") == "a"


@pytest.mark.parametrize("topic", ["topic3", "target2.topic3", "source6.topic7", "a.b"])
def test_the_source_of_a_mirrored_topic_is_found_again(topic: str) -> None:
    assert macro("source_topic_name", macro("target_topic_name", topic)) == topic


def flow(tmp_path: Path, settings: str) -> FlowSettings:
    file = tmp_path / "moldau.yml"
    file.write_text(f"flows: {{f: {{source: A, target: B, {settings}}}}}\n")
    found = load_settings(file, None).sections["flows"]["f"]
    assert isinstance(found, FlowSettings)
    return found


@pytest.mark.parametrize(
    ("settings", "syncs", "checkpoints"),
    [
        ("", ("A", "mm2-offset-syncs.B.internal"), "A.checkpoints.internal"),
        (
            "offset-syncs.topic.location: target",
            ("B", "mm2-offset-syncs.A.internal"),
            "A.checkpoints.internal",
        ),
        (
            "replication.policy.separator: _",
            ("A", "mm2-offset-syncs_B_internal"),
            "A_checkpoints_internal",
        ),
        (
            "replication.policy.separator: '-', offset-syncs.topic.location: target",
            ("B", "mm2-offset-syncs-A-internal"),
            "A-checkpoints-internal",
        ),
        (
            "replication.policy.separator: _, "
            "replication.policy.internal.topic.separator.enabled: false",
            ("A", "mm2-offset-syncs.B.internal"),
            "A.checkpoints.internal",
        ),
    ],
)
def test_internal_topics_have_the_separator_of_the_flow(
    tmp_path: Path, settings: str, syncs: tuple[str, str], checkpoints: str
) -> None:
    row = flow(tmp_path, settings).row()
    assert (row["syncs_cluster_id"], row["syncs_topic_name"]) == syncs
    assert row["checkpoints_topic_name"] == checkpoints
    assert family_of(syncs[1]) == "offset_syncs"
    assert family_of(checkpoints) == "checkpoints"
