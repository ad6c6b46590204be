"""A broker of its own for each file, with groups of every kind of commit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from broker_support import Broker, running_broker
from certificate_support import make_certificate
from groups_support import PARTITIONS, TOPIC, Groups


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    certificate = make_certificate(tmp_path_factory.mktemp("certificate"))
    with running_broker(tmp_path_factory.mktemp("broker"), certificate) as started:
        yield started


@pytest.fixture(scope="module")
def groups(broker: Broker) -> Groups:
    made = Groups(broker.plaintext)
    made.create(TOPIC, PARTITIONS)
    made.commit("g-simple", p0=5, p1=7)
    made.commit("g-deleted", p0=1)
    made.delete("g-deleted")
    made.begin("g-in-transactions", p0=3, p1=3).commit_transaction(30)
    made.begin("g-in-transactions", p1=9, p2=9).abort_transaction(30)
    with made.member("g-with-member"):
        pass
    return made
