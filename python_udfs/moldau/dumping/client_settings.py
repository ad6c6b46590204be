"""Properties of a Java client as settings of librdkafka, for a client that only reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from moldau.dumping import names
from moldau.dumping.jaas import LoginModule, parse_jaas
from moldau.dumping.properties import read_properties
from moldau.dumping.stores import Config, keystore, truststore
from moldau.errors import MoldauError
from moldau.settings.servers import checked_servers

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PASSWORD_MODULES = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
}
MECHANISMS = (*PASSWORD_MODULES, "OAUTHBEARER")
_OAUTH_HANDLER = "OAuthBearerLoginCallbackHandler"
# of what the client says, these are cut out
_SECRET = ("password", "secret", "pem")
_SHORTEST_SECRET = 4
_NAME = re.compile(r"[a-z0-9]+([._-][a-z0-9]+)+")


@dataclass(frozen=True)
class ClientSettings:
    """`config` is librdkafka's; `warnings` name properties that have no effect here.

    `properties`: of them those that a Java client needs to reach the cluster and log in.
    """

    servers: str
    config: Config = field(repr=False)
    warnings: tuple[str, ...] = ()
    properties: Config = field(repr=False, default_factory=dict)

    def without_secrets(self, text: str) -> str:
        """What the client said, for a person to read."""
        for name, value in self.config.items():
            if name.endswith(_SECRET) and len(value) >= _SHORTEST_SECRET:
                text = text.replace(value, "***")
        return text


def client_settings(servers: str | None, file: Path | None) -> ClientSettings:
    """How to reach the cluster: `servers`, else `bootstrap.servers` of the properties file.

    MoldauError names what cannot be taken over, and never says a value that may be secret.
    """
    properties = read_properties(file) if file else {}
    servers = servers or properties.get("bootstrap.servers")
    if not servers:
        raise MoldauError(
            "no cluster is named: --bootstrap-servers HOST:PORT, or bootstrap.servers in the file "
            "of --properties"
        )
    for what, text in (("--bootstrap-servers", servers), *properties.items()):
        require_unicode(what, text)
    servers = checked_servers(servers)
    try:
        config = _translated(properties)
    except MoldauError as error:
        raise MoldauError(f"{file}: {error}") from None
    warnings = tuple(f"{file}: {warning}" for warning in _warnings(properties))
    named = {"bootstrap.servers": servers}
    of_java = {name: value for name, value in properties.items() if name in names.OF_A_LOGIN}
    return ClientSettings(servers, named | config, warnings, of_java | named)


def require_unicode(what: str, text: str) -> None:
    """Words on a command line may be any bytes, and librdkafka's binding ends the process at some.

    MoldauError names `what`, never its value.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise MoldauError(f"{what} is not UTF-8") from None


def _warnings(properties: dict[str, str]) -> Iterator[str]:
    known = names.READ | names.IGNORED | names.PASSED_ON.keys()
    unknown = sorted(properties.keys() - known)
    named = [name for name in unknown if _NAME.fullmatch(name)]
    yield from (f"{name} has no effect here" for name in named)
    if len(named) < len(unknown):
        # the rest of a key or password that went on in the next line may be among them
        yield (
            f"{len(unknown) - len(named)} lines are no property of Kafka (a value goes on in the "
            "next line only behind a \\)"
        )


def _translated(properties: dict[str, str]) -> Config:
    for name, value in properties.items():
        if name in names.REFUSED and value:
            raise MoldauError(f"{name} names Java classes, which moldau does not run")
        if name in names.READ and value.startswith("${") and value.endswith("}"):
            raise MoldauError(f"{name} is left to a config provider, which moldau does not run")
    protocol = (properties.get("security.protocol") or "PLAINTEXT").upper()
    if protocol not in PROTOCOLS:
        raise MoldauError(f"security.protocol is {protocol!r}: {', '.join(PROTOCOLS)}")
    config = {
        name: properties[kafka_name]
        for kafka_name, name in names.PASSED_ON.items()
        if properties.get(kafka_name)
    }
    config["security.protocol"] = protocol
    if protocol.startswith("SASL"):
        config |= _sasl(properties)
    if protocol.endswith("SSL"):
        config |= _tls(properties)
    return config


def _tls(properties: dict[str, str]) -> Config:
    algorithm = properties.get("ssl.endpoint.identification.algorithm", "https").lower()
    if algorithm not in ("", "https"):
        raise MoldauError(
            f"ssl.endpoint.identification.algorithm is {algorithm!r}: https, or empty for none"
        )
    return {
        "ssl.endpoint.identification.algorithm": algorithm or "none",
        **truststore(properties),
        **keystore(properties),
    }


def _sasl(properties: dict[str, str]) -> Config:
    mechanism = (properties.get("sasl.mechanism") or "GSSAPI").upper()
    if mechanism not in MECHANISMS:
        default = "" if properties.get("sasl.mechanism") else ", Kafka's default"
        raise MoldauError(f"sasl.mechanism is {mechanism}{default}: {', '.join(MECHANISMS)}")
    if mechanism == "OAUTHBEARER":
        return _oauth(properties)
    module = _login_module(properties, mechanism, PASSWORD_MODULES[mechanism])
    if module.options.get("tokenauth", "").lower() == "true":
        raise MoldauError("sasl.jaas.config logs in with a delegation token: give a password")
    return {
        "sasl.mechanism": mechanism,
        "sasl.username": _option(module, "username"),
        "sasl.password": _option(module, "password"),
    }


def _oauth(properties: dict[str, str]) -> Config:
    """The client credentials grant; the secret stands in JAAS (3.1) or in properties (4.1)."""
    handler = properties.get("sasl.login.callback.handler.class")
    if handler and not handler.endswith(_OAUTH_HANDLER):
        raise MoldauError(
            f"sasl.login.callback.handler.class is a Java class that moldau does not run: only "
            f"{_OAUTH_HANDLER}, which asks sasl.oauthbearer.token.endpoint.url"
        )
    url = properties.get("sasl.oauthbearer.token.endpoint.url")
    if not url:
        raise MoldauError("OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url")
    if "sasl.jaas.config" in properties:
        module = _login_module(properties, "OAUTHBEARER", "OAuthBearerLoginModule")
    else:
        module = LoginModule("", {})
    client = "sasl.oauthbearer.client.credentials.client"
    scope = properties.get("sasl.oauthbearer.scope") or module.options.get("scope")
    extensions = ",".join(
        f"{name.removeprefix('extension_')}={value}"
        for name, value in module.options.items()
        if name.startswith("extension_")
    )
    config = {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.client.id":
            properties.get(f"{client}.id") or _option(module, "clientId"),
        "sasl.oauthbearer.client.secret":
            properties.get(f"{client}.secret") or _option(module, "clientSecret"),
        "sasl.oauthbearer.scope": scope,
        "sasl.oauthbearer.extensions": extensions,
    }  # fmt: skip
    return {name: value for name, value in config.items() if value}


def _login_module(properties: dict[str, str], mechanism: str, wanted: str) -> LoginModule:
    text = properties.get("sasl.jaas.config")
    if not text:
        raise MoldauError(f"sasl.jaas.config is missing: {mechanism} needs a {wanted}")
    module = parse_jaas(text)
    if module.name != wanted:
        raise MoldauError(f"sasl.jaas.config has no {wanted}, which {mechanism} needs")
    return module


def _option(module: LoginModule, name: str) -> str:
    value = module.options.get(name)
    if not value:
        raise MoldauError(f"sasl.jaas.config has no {name}")
    return value
