"""Key and trust stores of a Java client, as librdkafka takes them.

What a store is follows from its first bytes: Java, too, reads PKCS12 where JKS is configured.
"""

from __future__ import annotations

import re
from pathlib import Path

from cryptography.hazmat.primitives.serialization import Encoding, pkcs12

from moldau.errors import MoldauError

_JKS = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")  # the second is JCEKS
_DER_SEQUENCE = b"\x30"
_PEM_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_LINE = 64

Config = dict[str, str]


def truststore(properties: dict[str, str]) -> Config:
    """librdkafka's settings for the certificates that are trusted; {} = those of the system."""
    if inline := properties.get("ssl.truststore.certificates"):
        return {"ssl.ca.pem": _pem("ssl.truststore.certificates", inline)}
    location = properties.get("ssl.truststore.location")
    if not location:
        return {}
    content = _read("ssl.truststore.location", location)
    if _PEM_BLOCK.search(content.decode("latin-1")):
        return {"ssl.ca.location": location}
    _refuse_others("ssl.truststore.location", location, content)
    password = properties.get("ssl.truststore.password")
    return {"ssl.ca.pem": _certificates(location, content, password)}


def keystore(properties: dict[str, str]) -> Config:
    """librdkafka's settings for the client's own key and certificates; {} = it has none."""
    password = properties.get("ssl.key.password")
    if inline := properties.get("ssl.keystore.certificate.chain"):
        key = properties.get("ssl.keystore.key")
        if not key:
            raise MoldauError("ssl.keystore.certificate.chain stands without ssl.keystore.key")
        return {
            "ssl.certificate.pem": _pem("ssl.keystore.certificate.chain", inline),
            "ssl.key.pem": _pem("ssl.keystore.key", key),
            **({"ssl.key.password": password} if password else {}),
        }
    location = properties.get("ssl.keystore.location")
    if not location:
        return {}
    content = _read("ssl.keystore.location", location)
    if _PEM_BLOCK.search(content.decode("latin-1")):
        return {
            "ssl.certificate.location": location,
            "ssl.key.location": location,
            **({"ssl.key.password": password} if password else {}),
        }
    _refuse_others("ssl.keystore.location", location, content)
    store_password = properties.get("ssl.keystore.password") or password or ""
    return {"ssl.keystore.location": location, "ssl.keystore.password": store_password}


def _read(name: str, location: str) -> bytes:
    try:
        return Path(location).read_bytes()
    except OSError as error:
        raise MoldauError(f"cannot read {name} {location}: {error.strerror}") from None


def _refuse_others(name: str, location: str, content: bytes) -> None:
    if content.startswith(_JKS):
        raise MoldauError(
            f"{name} {location} is a JKS store, which only Java reads; convert it: keytool "
            f"-importkeystore -srckeystore {location} -destkeystore {location}.p12 "
            "-deststoretype PKCS12"
        )
    if not content.startswith(_DER_SEQUENCE):
        raise MoldauError(f"{name} {location} is neither PEM nor PKCS12")


def _certificates(location: str, content: bytes, password: str | None) -> str:
    try:
        store = pkcs12.load_pkcs12(content, password.encode() if password else None)
    except ValueError:
        raise MoldauError(
            f"ssl.truststore.location {location} cannot be opened with ssl.truststore.password"
        ) from None
    held = [*([store.cert] if store.cert else []), *store.additional_certs]
    if not held:
        raise MoldauError(f"ssl.truststore.location {location} holds no certificate")
    return "".join(each.certificate.public_bytes(Encoding.PEM).decode() for each in held)


def _pem(name: str, text: str) -> str:
    """PEM with line breaks: a properties file has it in one line more often than not."""
    blocks = [(label, "".join(body.split())) for label, body in _PEM_BLOCK.findall(text)]
    if not blocks:
        raise MoldauError(f"{name} is not PEM: -----BEGIN ...----- to -----END ...-----")
    return "".join(
        f"-----BEGIN {label}-----\n"
        + "".join(f"{body[at : at + _LINE]}\n" for at in range(0, len(body), _LINE))
        + f"-----END {label}-----\n"
        for label, body in blocks
    )
