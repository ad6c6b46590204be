"""One broker for all files of this folder; each test looks at groups of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from broker_support import CLEANS_UP, Broker, running_broker
from certificate_support import Certificate, make_certificate
from groups_support import PARTITIONS, TOPIC, Groups


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory, certificate: Certificate) -> Iterator[Broker]:
    with running_broker(tmp_path_factory.mktemp("broker"), certificate, CLEANS_UP) as started:
        yield started


@pytest.fixture(scope="session")
def groups(broker: Broker) -> Groups:
    made = Groups(broker.plaintext)
    made.create(TOPIC, PARTITIONS)
    return made
