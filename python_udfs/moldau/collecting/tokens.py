"""Tokens for OAUTHBEARER: the client credentials grant (RFC 6749, 4.4), as librdkafka asks it."""

from __future__ import annotations

import time
from typing import Any

import requests
from kafka.net.sasl.oauth import AbstractTokenProvider

from moldau.errors import MoldauError

_TIMEOUT_S = 10
_RENEWED_AT = 0.8  # of a token's life, as Kafka's sasl.login.refresh.window.factor
_PREFIX = "sasl.oauthbearer."


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc]
    """`config` is librdkafka's."""

    def __init__(self, config: dict[str, str]) -> None:
        super().__init__()
        self._config = config
        self._token = ""
        self._good_until = 0.0

    def token(self) -> str:
        """One that holds. MoldauError, without a secret, when the server gives none."""
        if time.monotonic() >= self._good_until:
            answer = self._ask()
            token = answer.get("access_token")
            if not isinstance(token, str) or not token:
                raise MoldauError(f"{self._url} gave no access_token")
            seconds = answer.get("expires_in")
            life = seconds if isinstance(seconds, int | float) else 60
            self._token, self._good_until = token, time.monotonic() + _RENEWED_AT * life
        return self._token

    def extensions(self) -> dict[str, str]:
        told = self._config.get(_PREFIX + "extensions", "")
        pairs = (each.partition("=") for each in told.split(",") if each)
        return {name: value for name, _, value in pairs}

    @property
    def _url(self) -> str:
        return self._config[_PREFIX + "token.endpoint.url"]

    def _ask(self) -> dict[str, Any]:
        form = {"grant_type": "client_credentials"}
        if scope := self._config.get(_PREFIX + "scope"):
            form["scope"] = scope
        client = (self._config[_PREFIX + "client.id"], self._config[_PREFIX + "client.secret"])
        try:
            answer = requests.post(self._url, data=form, auth=client, timeout=_TIMEOUT_S)
            told = answer.json() if answer.ok else None
        except (requests.RequestException, ValueError) as error:
            raise MoldauError(f"{self._url} gave no token: {type(error).__name__}") from None
        if not isinstance(told, dict):
            raise MoldauError(f"{self._url} gave no token: HTTP {answer.status_code}")
        return told
