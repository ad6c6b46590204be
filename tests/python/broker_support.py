"""One real Kafka 4.4.0 in KRaft mode on 127.0.0.1, with its jars from the cache."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from certificate_support import PASSWORD as PASSWORD_OF_STORES
from certificate_support import Certificate
from server_support import free_ports, wait_for

from moldau.engines.spark.jars import resolve
from moldau.engines.spark.java import find_java

COORDINATES = ["org.apache.kafka:kafka_2.13:4.4.0"]
TOOLS = ["org.apache.kafka:kafka-tools:4.4.0"]
HEAP = ["-Xms64m", "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
UP_WITHIN_S = 90

CHECK_INTERVAL_MS = 3_000
CLEANS_UP = {
    "offsets.retention.check.interval.ms": str(CHECK_INTERVAL_MS),
    "group.streams.topology.description.plugin.class":
        "org.apache.kafka.server.streams.InMemoryTopologyDescriptionPlugin",
}  # fmt: skip

# bob may log in and nothing else; carol, once she has an ACL, reads a topic and knows no group
USERS = {
    "alice": 'alice-secret;with "quotes" and \\ in it',
    "bob": "bob-secret-word",
    "carol": "carol-secret-word",
}
_ANYTHING = "org.apache.kafka.common.security.plain.PlainLoginModule required {};"


@dataclass(frozen=True)
class Broker:
    folder: Path
    process: subprocess.Popen[bytes]
    plaintext: str
    sasl: str
    tls: str
    oauth: str


@contextlib.contextmanager
def running_broker(
    folder: Path,
    stores: Certificate,
    settings: Mapping[str, str] = MappingProxyType({}),
    classes: Path | None = None,
    options: Sequence[str] = (),
) -> Iterator[Broker]:
    """A broker of its own in `folder`: listeners for PLAINTEXT, SASL, TLS and OAUTHBEARER.

    `settings` of Kafka come on top of the tests' own; plugins may be in the folder `classes`;
    `options` are Java's.
    """
    made = make_broker(folder, stores, settings, classes)
    words = [*java_of(COORDINATES, classes, options), "kafka.Kafka", str(made.settings)]
    with server(words, made.ports, folder) as process:
        yield Broker(folder, process, *made.addresses)


@dataclass(frozen=True)
class Made:
    """A broker that has not been started yet: its settings, and where it will listen."""

    settings: Path
    ports: list[int]
    controller: str

    @property
    def addresses(self) -> list[str]:
        return [f"127.0.0.1:{port}" for port in self.ports]


def make_broker(
    folder: Path,
    stores: Certificate,
    settings: Mapping[str, str],
    classes: Path | None = None,
    beside: Made | None = None,
) -> Made:
    """A cluster of its own, or one more broker of the cluster whose first one is `beside`."""
    *ports, controller = free_ports(5)
    made = Made(folder / "server.properties", ports, f"127.0.0.1:{controller}")
    own = _settings(folder / "data", [*made.addresses, made.controller], stores)
    of_controllers = [f"--add-scram=SCRAM-SHA-256=[{_scram(name)}]" for name in USERS]
    of_controllers.append("--standalone")
    if beside:
        own |= {
            "process.roles": "broker",
            "listeners": own["advertised.listeners"],
            "controller.quorum.bootstrap.servers": beside.controller,
        }
        of_controllers = []
    made.settings.write_text(properties_text(own | dict(settings)))
    words = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(made.settings)]
    _run([*java_of(COORDINATES, classes), *words, *of_controllers])
    return made


def java_of(
    coordinates: list[str], classes: Path | None = None, options: Sequence[str] = ()
) -> list[str]:
    """The command up to the name of a class in these jars, or in the folder `classes`."""
    jars = ":".join(map(str, [*resolve(coordinates, transitive=True), *filter(None, [classes])]))
    return [str(find_java().path), *HEAP, *options, "-cp", jars]


@contextlib.contextmanager
def server(command: list[str], ports: list[int], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that listens at these ports as long as the block goes on; its log in `folder`."""
    log = folder / "server.log"
    with log.open("wb") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written, cwd=folder)
    try:
        wait_for(process, ports, log, UP_WITHIN_S)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def tool(name: str, *words: str) -> str:
    """What one of Kafka's own command-line tools prints: a class of org.apache.kafka.tools."""
    return _run([*java_of(TOOLS), f"org.apache.kafka.tools.{name}", *words])


def _run(command: list[str]) -> str:
    told = subprocess.run(command, capture_output=True, text=True, timeout=UP_WITHIN_S)
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def password_login(mechanism: str, user: str, password: str) -> dict[str, str]:
    """Properties of a client that logs in."""
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"org.apache.kafka.common.security.{module} required "
        f'username="{user}" password="{_quoted(password)}";',
    }


def properties_text(properties: dict[str, str]) -> str:
    return "".join(f"{name}={value}\n" for name, value in properties.items()).replace("\\", "\\\\")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _scram(name: str) -> str:
    # the tool splits at commas and reads no quotes
    return f"name={name},password={USERS[name]}"


def _settings(data: Path, addresses: list[str], stores: Certificate) -> dict[str, str]:
    plaintext, sasl, tls, oauth, controller = addresses
    users = " ".join(f'user_{name}="{_quoted(password)}"' for name, password in USERS.items())
    listeners = f"PLAINTEXT://{plaintext},SASL://{sasl},TLS://{tls},OAUTH://{oauth}"
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": f"{listeners},CONTROLLER://{controller}",
        "advertised.listeners": listeners,
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": controller,
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map":
            "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,OAUTH:SASL_PLAINTEXT,"
            "TLS:SSL",
        "listener.name.oauth.sasl.enabled.mechanisms": "OAUTHBEARER",
        # whoever has a token that nobody signed
        "listener.name.oauth.oauthbearer.sasl.jaas.config":
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
            'unsecuredLoginStringClaim_sub="broker";',
        "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
        "listener.name.sasl.plain.sasl.jaas.config": _ANYTHING.format(users),
        "listener.name.sasl.scram-sha-256.sasl.jaas.config":
            "org.apache.kafka.common.security.scram.ScramLoginModule required;",
        "listener.name.tls.ssl.keystore.type": "PKCS12",
        "listener.name.tls.ssl.keystore.location": str(stores.keystore),
        "listener.name.tls.ssl.keystore.password": PASSWORD_OF_STORES,
        "listener.name.tls.ssl.key.password": PASSWORD_OF_STORES,
        "listener.name.tls.ssl.client.auth": "required",
        "listener.name.tls.ssl.truststore.type": "PKCS12",
        "listener.name.tls.ssl.truststore.location": str(stores.truststore),
        "listener.name.tls.ssl.truststore.password": PASSWORD_OF_STORES,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:alice;User:by-token;User:CN=127.0.0.1",
        "log.dirs": str(data),
        "offsets.topic.num.partitions": "5",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "2",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "2",
        "group.initial.rebalance.delay.ms": "0",
        "log.cleaner.dedupe.buffer.size": "4194304",
        # a topic that is asked for is made: what only reads must not ask for one
        "auto.create.topics.enable": "true",
    }  # fmt: skip
