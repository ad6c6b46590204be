"""A broker whose topology plugin fails: the group is held as long as moldau says, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from broker_support import CHECK_INTERVAL_MS, CLEANS_UP, Broker, running_broker
from broker_watch_support import ELIGIBLE, LATE_MS, NOTHING, UNCERTAIN, Poll, Watched, watching
from certificate_support import make_certificate
from groups_support import PARTITIONS, TOPIC, Groups
from java_support import compiled
from raw_client_support import NONE, UPDATE_FAILED, RawClient

PLUGIN = "group.streams.topology.description.plugin.class"
HELD = ("fail-0", "fail-1")
FREE = ("fine-0", "refused-0")
INTERVALS = 2  # during which the plugin stays down, and others have gone


@dataclass(frozen=True)
class Story:
    """`while_down`: the polls in which the free groups are gone, and the plugin still fails."""

    watched: Watched
    while_down: list[Poll]


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As long as this file is there the plugin fails."""
    file = tmp_path_factory.mktemp("plugin") / "down"
    file.touch()
    return file


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, switch: Path) -> Iterator[Broker]:
    classes = compiled(Path(__file__).with_name("PluginOnDemand.java"), switch.parent)
    settings = CLEANS_UP | {
        PLUGIN: "PluginOnDemand",
        "plugin.on.demand.folder": str(switch.parent),
    }
    certificate = make_certificate(tmp_path_factory.mktemp("certificate"))
    folder = tmp_path_factory.mktemp("broker")
    with running_broker(folder, certificate, settings, classes) as started:
        yield started


@pytest.fixture(scope="module")
def story(
    broker: Broker, switch: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Story]:
    """Polls while the plugin fails, and, of the held groups, after it works again."""
    groups = Groups(broker.plaintext)
    groups.create(TOPIC, PARTITIONS)
    groups.commit("first", p0=0)
    client = RawClient(broker.plaintext)
    for group in (*HELD, *FREE):
        with client.member("streams", group, TOPIC) as member:
            assert member.push() == (UPDATE_FAILED if group.startswith("refused-") else NONE)
    client.close()
    with watching(tmp_path_factory.mktemp("watched"), broker) as watched:
        watched.poll()
        watched.poll_until_gone(FREE)
        while_down = [watched.poll()]
        while while_down[-1].at_ms - while_down[0].at_ms <= INTERVALS * CHECK_INTERVAL_MS:
            while_down.append(watched.poll())
        switch.unlink()
        watched.poll_until_gone(HELD)
        yield Story(watched, while_down)


def test_a_group_whose_description_cannot_be_deleted_is_held(story: Story) -> None:
    clears = {group: each.clear for group, each in story.watched.deletions().items()}
    for poll in story.while_down:
        for group in HELD:
            assert not clears[group].is_seen_by(poll)
            assert (poll.eligibility[group], poll.sweeps[group][0]) == (ELIGIBLE, "defer")


def test_it_goes_as_foretold_when_the_plugin_works_again(story: Story) -> None:
    watched = story.watched
    for group in HELD:
        deletion = watched.deletions()[group]
        assert deletion.gone
        assert deletion.gone.at_ms - deletion.clear.at_ms <= CHECK_INTERVAL_MS + LATE_MS
        for poll in deletion.polls_between(watched.polls):
            assert (poll.eligibility[group], poll.sweeps[group][0]) == (
                "NOTHING_STORED",
                "tombstone",
            )


def test_a_description_that_was_refused_is_deleted_all_the_same(story: Story) -> None:
    """What the plugin holds of it is uncertain: Kafka asks it to delete, and so moldau said."""
    watched = story.watched
    log = [record for record in watched.log if record.group == "refused-0" and record.kind == 17]
    epochs = [record.stored_epoch for record in log if not record.is_tombstone]
    assert epochs[-2:] == [UNCERTAIN, NOTHING]
    assert log[-1].is_tombstone
    seen = [poll for poll in watched.polls if poll.eligibility.get("refused-0") == ELIGIBLE]
    held = [poll for poll in watched.polls if poll.sweeps.get("refused-0", ("", 0))[0] == "defer"]
    assert seen == held
