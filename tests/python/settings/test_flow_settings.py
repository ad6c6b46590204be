"""What people write about a flow: MirrorMaker's own properties, pasted as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from moldau.errors import MoldauError
from moldau.settings import load_settings
from moldau.settings.flow import FlowSettings

FLOW = {"source": "east", "target": "west"}
# the properties of a dedicated MirrorMaker, as its documentation has them
PASTED: dict[str, Any] = {
    "clusters": "east, west, north",
    "east.bootstrap.servers": "east1:9092,east2:9092",
    "west.bootstrap.servers": "west1:9092",
    "north.security.protocol": "SASL_SSL",
    "east.sasl.jaas.config": "a secret",
    "west.consumer.max.poll.records": 500,
    "west.producer.compression.type": "zstd",
    "east.admin.request.timeout.ms": 1000,
    "west.config.storage.replication.factor": 3,
    "west.offset.storage.replication.factor": 3,
    "east->west.enabled": True,
    "east->west.emit.heartbeats.enabled": True,
    "west->east.enabled": False,
    "west->east.topics": "never.*",
    "tasks.max": 4,
    "replication.factor": 3,
    "refresh.topics.interval.seconds": 30,
    "sync.topic.acls.enabled": False,
    "heartbeats.topic.replication.factor": 3,
    "dedicated.mode.enable.internal.rest": True,
    "listeners": "http://localhost:8083",
    "listeners.https.ssl.keystore.location": "/a",
    "ssl.truststore.location": "/b",
    # of a connector in a Connect cluster
    "name": "mirror",
    "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
    "source.cluster.alias": "east",
    "target.cluster.bootstrap.servers": "west1:9092",
    "source.cluster.ssl.truststore.password": "a secret",
    "source.consumer.isolation.level": "read_committed",
    "target.producer.acks": "all",
    "producer.override.linger.ms": 5,
    "consumer.auto.offset.reset": "earliest",
    "admin.retries": 3,
    "key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter",
    "value.converter.schemas.enable": False,
    "transforms": "route",
    "transforms.route.type": "a.b.RegexRouter",
    "config.providers.file.class": "a.b.FileConfigProvider",
    "topic.creation.default.partitions": -1,
    "offset.flush.interval.ms": 10_000,
    "errors.tolerance": "all",
    "use.defaults.from": "target",
    # of releases before 4.0, and of those that measure
    "use.incremental.alter.configs": "requested",
    "add.source.alias.to.metrics": True,
    "west.metrics.jmx.include": "kafka.*",
}


def load(folder: Path, flow: dict[str, Any]) -> FlowSettings:
    file = folder / "moldau.yml"
    file.write_text(yaml.safe_dump({"flows": {"f": flow}}))
    found: FlowSettings = load_settings(file, None).sections["flows"]["f"]
    return found


def refused(folder: Path, flow: dict[str, Any]) -> str:
    with pytest.raises(MoldauError) as caught:
        load(folder, flow)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_pasted_block_is_a_flow(tmp_path: Path) -> None:
    """And nothing of it is kept: another number of tasks is no other flow."""
    assert load(tmp_path, FLOW | PASTED) == load(tmp_path, FLOW)
    assert "secret" not in str(load(tmp_path, FLOW | PASTED).row())


@pytest.mark.parametrize("key", PASTED)
def test_each_of_its_keys_is_taken_alone(tmp_path: Path, key: str) -> None:
    """`north` is a cluster because `clusters` says so."""
    load(tmp_path, FLOW | {"clusters": PASTED["clusters"], key: PASTED[key]})


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"east->west.topics": "orders.*"}, {"topics": "orders.*"}),
        ({"topics": "a", "east->west.topics": "orders.*"}, {"topics": "orders.*"}),
        ({"east->west.topics": "orders.*", "topics": "a"}, {"topics": "orders.*"}),
        ({"west->east.topics": "orders.*"}, {}),
        ({"topics.blacklist": "a.*", "groups.blacklist": "b.*"},
         {"topics.exclude": "a.*", "groups.exclude": "b.*"}),
        ({"topics.blacklist": "a.*", "topics.exclude": "b.*"}, {"topics.exclude": "b.*"}),
        ({"west.exactly.once.source.support": "enabled"},
         {"exactly.once.source.support": "enabled"}),
        ({"east.exactly.once.source.support": "enabled"}, {}),
        ({"east->west.exactly.once.source.support": "enabled"}, {}),  # no worker reads it
        ({"east->west.replication.policy.class": "IdentityReplicationPolicy"},
         {"replication.policy.class": "IdentityReplicationPolicy"}),
        ({"east->west.offset-syncs.topic.location": "target"},
         {"offset-syncs.topic.location": "target"}),
    ],
)  # fmt: skip
def test_what_matters_is_taken_however_it_is_said(
    tmp_path: Path, said: dict[str, Any], meant: dict[str, Any]
) -> None:
    assert load(tmp_path, FLOW | said) == load(tmp_path, FLOW | meant)


def test_a_block_among_the_flows_is_of_all_of_them(tmp_path: Path) -> None:
    file = tmp_path / "moldau.yml"
    back = {"source": "west", "target": "east", "topics": "own.*"}
    shared = PASTED | {"topics": "all.*", "east->west.groups": "g.*"}
    file.write_text(yaml.safe_dump({"flows": shared | {"f": FLOW, "back": back}}))
    found = load_settings(file, None).sections["flows"]
    assert found["f"] == load(tmp_path, FLOW | {"topics": "all.*", "groups": "g.*"})
    never = {"topics": PASTED["west->east.topics"]}
    assert found["back"] == load(tmp_path, back | never)


@pytest.mark.parametrize(
    ("flows", "told"),
    [
        (PASTED, "allowed is flows by their names, each with its `source` and `target`"),
        ({"f": FLOW, "topcs": "a"}, "flows.topcs: 'a' is not allowed; allowed is a mapping"),
        ({"f": 5}, "flows.f: 5 is not allowed; allowed is a mapping"),
        ({"f": None}, "flows.f.source is missing"),
        ("text", "flows: 'text' is not allowed"),
    ],
)
def test_what_stands_among_the_flows_and_is_none_is_refused(
    tmp_path: Path, flows: Any, told: str
) -> None:
    file = tmp_path / "moldau.yml"
    file.write_text(yaml.safe_dump({"flows": flows}))
    with pytest.raises(MoldauError) as caught:
        load_settings(file, None)
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)


def test_all_keys_that_nobody_has_are_told_at_once(tmp_path: Path) -> None:
    wrong = {
        "topcs": "a", "refresh.topics.enabld": True, "east.bootstrap.server": "b",
        "producer.ack": "all", "east->west.emit.checkpoint.enabled": True,
        "replication.policy.seperator": "-", "south.bootstrap.servers": "c",
    }  # fmt: skip
    told = refused(tmp_path, FLOW | PASTED | wrong)
    assert ": unknown keys flows.f." in told
    for key in wrong:
        assert f"flows.f.{key} (value " in told, key
    assert "flows.f.topcs (value 'a'), did you mean topics?" in told
    assert (
        "flows.f.refresh.topics.enabld (value true), did you mean refresh.topics.enabled?" in told
    )
    assert told.count("known here: ") == 1
    assert not any(f"flows.f.{key} " in told for key in PASTED)


def test_a_text_of_a_mistyped_key_is_shown_unless_it_may_be_a_secret(tmp_path: Path) -> None:
    file = tmp_path / "moldau.yml"
    told = {"athority": "moldau", "authorization": "hush", "plugins": "hush", "token": "hush"}
    file.write_text(yaml.safe_dump({"clusters": {"east": told}, "engin": "sparc"}))
    with pytest.raises(MoldauError) as caught:
        load_settings(file, None)
    assert "clusters.east.athority (value 'moldau')" in str(caught.value)
    assert "engin (value 'sparc')" in str(caught.value)
    assert str(caught.value).count("(value '***')") == 3
    assert "hush" not in str(caught.value)


def test_a_flow_to_its_own_source_is_told_by_its_target(tmp_path: Path) -> None:
    told = refused(tmp_path, FLOW | {"target": FLOW["source"]})
    assert f"flows.f.target: {FLOW['source']!r} is not allowed; allowed is another cluster" in told


def test_keys_of_several_places_and_other_mistakes_are_told_together(tmp_path: Path) -> None:
    file = tmp_path / "moldau.yml"
    flows = {"f": FLOW | {"topcs": 1, "anchored": "perhaps"}, "g": FLOW | {"grups": 2, "x": 3}}
    clusters = {"east": {"athority": "broker"}}
    file.write_text(yaml.safe_dump({"flows": flows, "clusters": clusters}))
    with pytest.raises(MoldauError) as caught:
        load_settings(file, None)
    for told in (
        "unknown key clusters.east.athority (value 'broker')",
        "unknown key flows.f.topcs (value 1)",
        "unknown keys flows.g.grups (value 2), did you mean groups?, flows.g.x (value 3)",
        "(and 1 more)",
    ):
        assert told in str(caught.value)
    del clusters["east"]
    file.write_text(yaml.safe_dump({"flows": flows, "clusters": clusters}))
    with pytest.raises(MoldauError, match=r"anchored: 'perhaps' is not .*; unknown key flows\.f"):
        load_settings(file, None)


OTHER = "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy"


@pytest.mark.parametrize(
    ("said", "keeps"),
    [
        ({}, False),
        ({"topics.renamed": False}, True),
        ({"topics.renamed": "true"}, False),
        ({"replication.policy.class": OTHER, "topics.renamed": False}, True),
        ({"replication.policy.class": OTHER, "topics.renamed": True}, False),
        ({"replication.policy.class": "a.MyIdentityReplicationPolicy", "topics.renamed": True},
         False),
        ({"east->west.replication.policy.class": OTHER, "topics.renamed": "false"}, True),
        ({"replication.policy.class": "a.IdentityReplicationPolicy"}, True),
        ({"replication.policy.class": "a.IdentityReplicationPolicy", "topics.renamed": False},
         True),
    ],
)  # fmt: skip
def test_somebody_says_what_a_policy_of_his_own_does(
    tmp_path: Path, said: dict[str, Any], keeps: bool
) -> None:
    assert load(tmp_path, FLOW | said).row()["keeps_topic_names"] is keeps


@pytest.mark.parametrize(
    "policy", [OTHER, "LegacyReplicationPolicy", "a.MyIdentityReplicationPolicy"]
)
def test_an_unknown_policy_is_offered_the_setting(tmp_path: Path, policy: str) -> None:
    told = refused(tmp_path, FLOW | {"replication.policy.class": policy})
    assert f"flows.f.replication.policy.class: '{policy}' is not allowed" in told
    assert "`topics.renamed: false` if topics keep their names" in told


@pytest.mark.parametrize(
    ("policy", "is_renamed"),
    [("IdentityReplicationPolicy", True), ("DefaultReplicationPolicy", False)],
)
def test_a_known_policy_is_not_contradicted(tmp_path: Path, policy: str, is_renamed: bool) -> None:
    said = {"replication.policy.class": policy, "topics.renamed": is_renamed}
    allowed = f"another class, or `topics.renamed: {str(not is_renamed).lower()}`"
    assert allowed in refused(tmp_path, FLOW | said)
