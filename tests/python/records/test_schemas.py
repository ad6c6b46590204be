"""The table of definitions says what Kafka's schema files say, and the files are Kafka's own.

To look at a new Kafka release, change ``KAFKA_VERSION`` in ``definitions.py``: the test of the jars
then fails for every file that changed, appeared or went.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from records_support import FIXTURES

from moldau.records import definitions
from moldau.records.wire_schema import MAX_VERSION, Field, Message, Versions

SCHEMAS = FIXTURES / "kafka-schemas-4.4.0"
# Jar: the folder of its schema files, a prefix of their names, and what the table makes of them.
JARS: dict[str, tuple[str, str, dict[str, Message]]] = {
    "kafka-group-coordinator": ("common/message/", "", definitions.GROUP_COORDINATOR_MESSAGES),
    "kafka-share-coordinator": ("common/message/", "", definitions.SHARE_COORDINATOR_MESSAGES),
    "kafka-transaction-coordinator": (
        "common/message/",
        "",
        definitions.TRANSACTION_COORDINATOR_MESSAGES,
    ),
    "kafka-clients": (
        "common/message/",
        "ConsumerProtocol",
        definitions.CONSUMER_PROTOCOL_MESSAGES,
    ),
    "kafka-storage": ("message/", "", definitions.REMOTE_LOG_MESSAGES),
}
# Files of a broker's disk, not records of a topic.
NOT_IN_TOPICS = {"ProducerSnapshot", "RemoteLogSegmentMetadataSnapshotRecord"}


def read_schema(path: Path) -> dict[str, Any]:
    lines = path.read_text().splitlines()
    schema = json.loads("\n".join(x for x in lines if not x.lstrip().startswith("//")))
    assert isinstance(schema, dict)
    return schema


def kafka_messages(jar: str) -> dict[str, dict[str, Any]]:
    schemas = [read_schema(p) for p in sorted((SCHEMAS / jar).glob("*.json"))]
    return {s["name"]: s for s in schemas if s["name"] not in NOT_IN_TOPICS}


PAIRS = [
    pytest.param(schema, JARS[jar][2].get(name), id=name)
    for jar in JARS
    for name, schema in kafka_messages(jar).items()
]


def versions(text: str | None) -> Versions | None:
    return None if text in (None, "none") else Versions.parse(text)


def cut(these: Versions | None, valid: Versions) -> tuple[int, int] | None:
    """A range within the valid versions, so that "0+" and "0-4" can be compared."""
    if these is None:
        return None
    return max(these.low, valid.low), min(these.high, valid.high, MAX_VERSION)


def kafka_default(field: dict[str, Any]) -> str | None:
    """Unquoted null means "none given"; every other default as lower-case text."""
    value = field.get("default")
    return None if value is None else str(value).lower()


def check_field(
    mine: Field, kafka: dict[str, Any], shared: dict[str, Any], valid: Versions
) -> None:
    name = kafka["name"]
    assert mine.name == name[0].lower() + name[1:]
    kind = kafka["type"]
    assert mine.is_array == kind.startswith("[]"), name
    kind = kind.removeprefix("[]")
    assert mine.kind == kind, name
    whole = (valid.low, valid.high)
    stated = versions(kafka.get("versions") or kafka.get("taggedVersions"))
    assert (cut(mine.versions, valid) or whole) == cut(stated, valid), name
    nullable = cut(versions(kafka.get("nullableVersions")), valid)
    assert nullable == ((cut(mine.versions, valid) or whole) if mine.nullable else None), name
    assert mine.tag == kafka.get("tag"), name
    if mine.tag is not None:
        # The table has no tagged versions of its own: a tagged field is tagged in all of its own.
        assert cut(versions(kafka["taggedVersions"]), valid) == cut(stated, valid), name
    assert mine.default == kafka_default(kafka), name
    inner = kafka.get("fields") or shared.get(kind)
    assert (mine.struct is None) == (inner is None), name
    if mine.struct is not None:
        check_fields(mine.struct, inner, shared, valid)


def check_fields(
    mine: tuple[Field, ...], kafka: list[dict[str, Any]], shared: dict[str, Any], valid: Versions
) -> None:
    assert len(mine) == len(kafka)
    for one, other in zip(mine, kafka, strict=True):
        check_field(one, other, shared, valid)


@pytest.mark.parametrize(("schema", "message"), PAIRS)
def test_definition_says_what_kafka_says(schema: dict[str, Any], message: Message | None) -> None:
    assert message is not None, "a schema the table does not know"
    assert message.api_key == schema.get("apiKey")
    assert message.valid == Versions.parse(schema["validVersions"])
    flexible = versions(schema["flexibleVersions"])
    assert cut(message.flexible, message.valid) == cut(flexible, message.valid)
    shared = {s["name"]: s["fields"] for s in schema.get("commonStructs", [])}
    check_fields(message.fields, schema["fields"], shared, message.valid)


@pytest.mark.parametrize("jar", JARS)
def test_the_table_names_nothing_that_kafka_does_not(jar: str) -> None:
    assert set(JARS[jar][2]) == set(kafka_messages(jar))


def schemas_in(jar: Path, folder: str, prefix: str) -> dict[str, bytes]:
    with zipfile.ZipFile(jar) as archive:
        return {
            Path(name).name: archive.read(name)
            for name in archive.namelist()
            if name.startswith(folder + prefix) and name.endswith(".json")
        }


def resolve(coordinate: str) -> Path | None:
    """The jar by Maven coordinate; None when it cannot be had here."""
    from moldau.engines.spark.jars import resolve as resolve_jars
    from moldau.errors import MoldauError

    try:
        found = resolve_jars([coordinate], transitive=False)
    except MoldauError:
        return None
    name = coordinate.split(":")[1]
    return next(path for path in found if name in path.name)


@pytest.mark.parametrize("jar", JARS)
def test_the_copied_schemas_are_those_in_the_jar(jar: str) -> None:
    path = resolve(f"org.apache.kafka:{jar}:{definitions.KAFKA_VERSION}")
    if path is None:
        pytest.skip("the jar cannot be resolved here")
    folder, prefix, _ = JARS[jar]
    theirs = schemas_in(path, folder, prefix)
    ours = {p.name: p.read_bytes() for p in sorted((SCHEMAS / jar).glob("*.json"))}
    assert sorted(theirs) == sorted(ours), "schemas came or went"
    changed = [name for name in ours if ours[name] != theirs[name]]
    assert changed == []
