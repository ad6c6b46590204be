"""Send Kafka's own requests to a cluster: each returns in bounded time, or says why not."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from confluent_kafka import KafkaError
from kafka import errors
from kafka.admin import KafkaAdminClient

from moldau.collecting.login import login
from moldau.dumping.brokers import Cluster, in_thread, result_of
from moldau.dumping.client_settings import ClientSettings
from moldau.errors import MoldauError

Thing = TypeVar("Thing")

# of a moment: a broker that restarts, a leader or coordinator that moves
_PASSING = (
    errors.NodeNotReadyError,
    errors.KafkaConnectionError,
    errors.Cancelled,
    errors.UnknownBrokerIdError,
)
_PAUSE_S = 0.2


class Unsupported(MoldauError):
    """The broker is older than the request, or than what was asked by it."""


class Asker:
    """`timeout` in seconds: how long there may be no answer."""

    def __init__(self, settings: ClientSettings, client: KafkaAdminClient, timeout: float) -> None:
        self.settings = settings
        self.timeout = timeout
        self._client = client
        self._manager = client._manager  # its public methods end with the first error of any topic

    @property
    def broker_ids(self) -> list[int]:
        return sorted(int(broker.node_id) for broker in self._manager.cluster.brokers())

    @property
    def version(self) -> str:
        """Kafka's, as far as the versions of the requests tell that the brokers know."""
        return ".".join(map(str, self._manager.broker_version))

    def knows(self, request: Any, version: int) -> bool:
        """Whether the brokers know this kind of request in this version."""
        try:
            return bool(self._manager.broker_version_data.api_version(request) >= version)
        except errors.KafkaError:
            return False

    def ask(self, request: Any, broker_id: int | None = None) -> Any:
        """The answer of this broker, None = of any. What stands in it may be errors.

        Unsupported if no broker would understand it; MoldauError if there is no answer;
        ShutdownRequested as soon as this process is to end.
        """

        async def answer() -> Any:
            sent = self._manager.send(request, node_id=broker_id)
            # a connection that is only being made has a time-out of its own
            return await self._manager.wait_for(sent, 1_000 * self.timeout)

        deadline = time.monotonic() + self.timeout
        while True:
            try:
                return result_of(in_thread(lambda: self._manager.run(answer)))
            except (errors.UnsupportedVersionError, errors.IncompatibleBrokerVersion) as error:
                raise Unsupported(str(error)) from None
            except _PASSING as error:
                if time.monotonic() > deadline:
                    raise self.failed(error) from None
            except errors.KafkaError as error:
                raise self.failed(error) from None
            time.sleep(_PAUSE_S)

    def failed(self, error: Exception) -> MoldauError:
        words = " ".join(f"{type(error).__name__} {error}".split())
        told = self.settings.without_secrets(words)
        return MoldauError(f"{self.settings.servers}: no answer for {self.timeout:g} s: {told}")


@contextlib.contextmanager
def asking(settings: ClientSettings, timeout: float) -> Iterator[Asker]:
    """An Asker, connected; MoldauError in one line where the cluster cannot be reached.

    What is wrong with an address or a login librdkafka says best, so it goes first.
    """
    cluster = Cluster(settings, timeout)
    cluster.ask(lambda: {"": cluster.admin.describe_cluster()})
    _be_silent()
    keywords, timeout_ms = login(settings), int(1_000 * timeout)
    try:
        made = in_thread(lambda: KafkaAdminClient(
            **keywords, request_timeout_ms=timeout_ms, bootstrap_timeout_ms=timeout_ms
        ))  # fmt: skip
        client = result_of(made)
    except errors.KafkaError as error:
        words = settings.without_secrets(f"{type(error).__name__} {error}")
        raise MoldauError(f"{settings.servers}: {words}") from None
    try:
        yield Asker(settings, client, timeout)
    finally:
        client.close()


def _be_silent() -> None:
    """What kafka-python logs would stand among what the command line says."""
    log = logging.getLogger("kafka")
    log.propagate = False
    log.handlers = [logging.NullHandler()]


def error_name(code: int) -> str:
    """Kafka's name of an error that stands in an answer."""
    return str(KafkaError(code).name())


def in_parts(things: Iterable[Thing], most: int) -> Iterator[list[Thing]]:
    """Lists of so many at most."""
    listed = list(things)
    yield from (listed[at : at + most] for at in range(0, len(listed), most))
