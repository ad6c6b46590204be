"""Settings of librdkafka as those of kafka-python: both clients log in alike."""

from __future__ import annotations

import contextlib
import os
import secrets
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    pkcs12,
)

from moldau.collecting.tokens import TokenProvider
from moldau.dumping.client_settings import ClientSettings
from moldau.errors import MoldauError

_PASSED_ON = {
    "client.id": "client_id",
    "client.dns.lookup": "client_dns_lookup",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
}


def login(settings: ClientSettings) -> dict[str, Any]:
    """Keywords of kafka-python's clients. MoldauError, without a secret, if a key does not open."""
    config = settings.config
    protocol = config["security.protocol"]
    keywords: dict[str, Any] = {
        "client_id": "moldau",
        "bootstrap_servers": settings.servers.split(","),
        "security_protocol": protocol,
        **{theirs: config[name] for name, theirs in _PASSED_ON.items() if name in config},
    }
    if config.get("sasl.mechanism") == "OAUTHBEARER":
        keywords["sasl_oauth_token_provider"] = TokenProvider(config)
    if protocol.endswith("SSL"):
        keywords["ssl_context"] = _context(config)
    return keywords


def _context(config: dict[str, str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = config.get("ssl.endpoint.identification.algorithm") != "none"
    try:
        if "ssl.ca.pem" in config:
            context.load_verify_locations(cadata=config["ssl.ca.pem"])
        elif "ssl.ca.location" in config:
            context.load_verify_locations(config["ssl.ca.location"])
        else:
            context.load_default_certs()
        with _own_chain(config) as (file, password):
            if file:
                context.load_cert_chain(file, password=password)
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        reason = getattr(error, "reason", None) or error.__class__.__name__
        raise MoldauError(f"the certificates or key for TLS cannot be read: {reason}") from None
    return context


@contextlib.contextmanager
def _own_chain(config: dict[str, str]) -> Iterator[tuple[Path | None, str]]:
    """The client's certificates and key in one PEM file, and its password; None = it has none.

    Python's ssl takes files alone: what is in none is in one that only the owner reads, as long as
    the block goes on, the key of a PKCS12 store encrypted.
    """
    password = config.get("ssl.key.password", "")
    if location := config.get("ssl.key.location"):
        yield Path(location), password
        return
    if store := config.get("ssl.keystore.location"):
        password = secrets.token_hex()
        pem = _as_pem(store, config["ssl.keystore.password"], password)
    elif "ssl.key.pem" in config:
        pem = config["ssl.certificate.pem"] + config["ssl.key.pem"]
    else:
        yield None, ""
        return
    handle, name = tempfile.mkstemp(prefix="moldau-", suffix=".pem")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(pem)
        yield Path(name), password
    finally:
        os.unlink(name)


def _as_pem(store: str, password: str, new_password: str) -> str:
    try:
        held = pkcs12.load_pkcs12(Path(store).read_bytes(), password.encode() or None)
    except ValueError:
        raise MoldauError(
            f"ssl.keystore.location {store} cannot be opened with ssl.keystore.password"
        ) from None
    if held.key is None or held.cert is None:
        raise MoldauError(f"ssl.keystore.location {store} holds no key with a certificate")
    chain = [held.cert, *held.additional_certs]
    key = held.key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(new_password.encode())
    )
    return (
        "".join(each.certificate.public_bytes(Encoding.PEM).decode() for each in chain)
        + key.decode()
    )
