"""Calls to a cluster that return in bounded time, or fail with one line that says why."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from moldau.dumping.client_settings import ClientSettings
from moldau.errors import MoldauError
from moldau.sessions import shutdown
from moldau.warehouse.log_spans import Unreadable

Key = TypeVar("Key")
Answer = TypeVar("Answer")

GROUP = "moldau-dump"  # librdkafka wants a name; nobody joins
OFFSETS = "__consumer_offsets"
# after these nothing gets better by waiting
_HOPELESS = {
    KafkaError._AUTHENTICATION,
    KafkaError._SSL,
    KafkaError._FATAL,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
}
_UNANSWERED = {KafkaError._TIMED_OUT, KafkaError._TRANSPORT}
_GENERAL = {KafkaError._ALL_BROKERS_DOWN}
_POLL_S = 0.1
# of a client without topics: what it asks goes to the broker that was the controller when it last
# heard of it, gone or not, and it does not ask again by itself before five minutes are over
_MOVES_ON = {"topic.metadata.refresh.interval.ms": 3_000}
_READS_ONLY = {
    "group.id": GROUP,
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "isolation.level": "read_committed",
    "auto.offset.reset": "error",
    "allow.auto.create.topics": False,
    "enable.partition.eof": True,
    "check.crcs": True,
    "fetch.wait.max.ms": 100,
}


class Cluster:
    """`timeout` in seconds: how long there may be no answer."""

    def __init__(self, settings: ClientSettings, timeout: float) -> None:
        self.timeout = timeout
        self._settings = settings
        self._trouble: KafkaError | None = None
        self._log = _LastFailure()
        self.admin: AdminClient = self._client(AdminClient, _MOVES_ON)

    def ask(
        self, question: Callable[[], Mapping[Key, Future[Answer]]]
    ) -> dict[Key, Answer | KafkaError]:
        """The answer to every part of a question, or the error that the cluster answered with.

        It is asked again where the broker went away that was to answer. ShutdownRequested as soon
        as this process is to end.
        """
        deadline = time.monotonic() + self.timeout
        while True:
            parts = question()
            while not all(future.done() for future in parts.values()):
                self.admin.poll(_POLL_S)
                self.check_hope()
                shutdown.check()
                if time.monotonic() > deadline:
                    raise self.silent()
            answers = {key: _answer(future) for key, future in parts.items()}
            errors = {told.code() for told in answers.values() if isinstance(told, KafkaError)}
            if not errors & _UNANSWERED:
                return answers
            if KafkaError._TIMED_OUT in errors or time.monotonic() > deadline:
                raise self.silent()
            time.sleep(_POLL_S)

    def consumer(self, on_statistics: Any) -> Consumer:
        """A consumer for `assign`, which takes part in no group.

        librdkafka asks for the coordinator of its group all the same, at which a broker makes
        the topic of the groups: MoldauError where there is none yet.
        """
        known = self.ask(lambda: self.admin.describe_topics(TopicCollection([OFFSETS])))[OFFSETS]
        if isinstance(known, KafkaError) and known.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise MoldauError(
                f"{self._settings.servers} has no {OFFSETS} yet, and Kafka would make it for this "
                "client: moldau writes nothing there; dump once a group has committed"
            )
        statistics = {"statistics.interval.ms": 1_000, "stats_cb": on_statistics}
        consumer: Consumer = self._client(Consumer, _READS_ONLY | statistics)
        return consumer

    def topics(self) -> list[str]:
        """All that it shows."""
        told = self.ask(lambda: {"": in_thread(self._listed)})[""]
        if isinstance(told, KafkaError):
            raise self._error(_words(told))
        return sorted(told)

    def _listed(self) -> list[str]:
        return list(self.admin.list_topics(timeout=self.timeout).topics)

    def refused(self, what: str, error: KafkaError | str) -> Unreadable:
        said = error if isinstance(error, str) else _words(error)
        return Unreadable(str(self._error(f"{what}: {said}")))

    def silent(self, where: str = "") -> MoldauError:
        """There was no answer for too long."""
        said = self._log.text
        if self._trouble and (self._trouble.code() not in _GENERAL or not said):
            said = _words(self._trouble)
        last = f"; last: {said}" if said else ""
        protocol = self._settings.config["security.protocol"]
        return self._error(f"no answer for {self.timeout:g} s over {protocol}{where}{last}")

    def check_hope(self) -> None:
        """MoldauError as soon as the client was told what no waiting mends."""
        if self._trouble and self._trouble.code() in _HOPELESS:
            raise self._error(_words(self._trouble))

    def note(self, error: KafkaError) -> None:
        """What the client says in passing; the last word counts, but for general ones."""
        hopeless = self._trouble and self._trouble.code() in _HOPELESS
        general = error.code() in _GENERAL and self._trouble
        if not (hopeless or general):
            self._trouble = error

    def _client(self, kind: Any, more: dict[str, Any]) -> Any:
        config = {**self._settings.config, **more, "error_cb": self.note}
        try:
            return kind(config, logger=self._log.logger)
        except (KafkaException, ValueError, TypeError) as error:
            told = error.args[0] if error.args else error
            text = _words(told) if isinstance(told, KafkaError) else str(told)
            raise self._error(text) from None

    def _error(self, text: str) -> MoldauError:
        words = self._settings.without_secrets(" ".join(text.split()))
        return MoldauError(f"{self._settings.servers}: {words}")


class _LastFailure(logging.Handler):
    """Takes the log of librdkafka, which would go to stderr, and keeps its last failure.

    A guess at the wrong security.protocol, say, stands nowhere else.
    """

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.logger = logging.Logger("librdkafka")
        self.logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        kind, _, said = record.getMessage().partition("]: ")
        if kind.startswith("FAIL"):
            self.text = said


def in_thread(call: Callable[[], Answer]) -> Future[Answer]:
    """What comes of a call that no signal interrupts."""
    future: Future[Answer] = Future()

    def answer() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=answer, daemon=True).start()
    return future


def result_of(future: Future[Answer]) -> Answer:
    """Waits for it; ShutdownRequested as soon as this process is to end."""
    while True:
        try:
            return future.result(_POLL_S)
        except TimeoutError:
            if future.done():
                raise
            shutdown.check()


def _answer(future: Future[Any]) -> Any:
    try:
        return future.result()
    except KafkaException as error:
        told: KafkaError = error.args[0]
        return told


def _words(error: KafkaError) -> str:
    return error.str().removeprefix("Broker: ")
