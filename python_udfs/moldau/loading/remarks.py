"""Remarks of a load or a decode about the records that it read: one line each, none an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from moldau.escapes import visible
from moldau.loading.tally import Tally
from moldau.records.definitions import KAFKA_VERSION

NAMED = 5
# so many offsets with other bytes are no slip: another log has these names
_HUNDRED, _SOME = 100, 10
_MEANS = {
    "ok_trailing": "read, without the bytes behind the last field, as Kafka reads them",
    "unknown_type": f"of a type that Kafka {KAFKA_VERSION} does not have",
    "unknown_version": f"of a version that Kafka {KAFKA_VERSION} does not have",
    "bad_key": "with a key that cannot be read",
    "bad_value": "with a value that cannot be read",
}


def of_statuses(tally: Tally) -> Iterator[str]:
    """What was not understood, a topic and a decode status a line."""
    for topic, counts in sorted(tally.statuses.items()):
        for status, means in _MEANS.items():
            if records := counts.get(status):
                yield f"{_count(records, 'record')} of {_named(topic)} {status}: {means}"
        if empty := tally.empty[topic]:
            yield (
                f"{empty} of these records of {_named(topic)} {'has' if empty == 1 else 'have'} "
                "an empty value: "
                '"value_base64": "" is a value of no bytes, and null means a tombstone'
            )


def of_records(records: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """What came, a topic a line."""
    for topic, counts in records.items():
        told = ", ".join(f"{count} {status}" for status, count in counts.items())
        yield f"{_count(sum(counts.values()), 'new record')} of {_named(topic)}: {told}"


def of_topics(unknown: Sequence[str], what_happens: str) -> Iterator[str]:
    """Topics that hold no known kind of record."""
    if unknown:
        are = "are none" if len(unknown) > 1 else "is none"
        yield f"{_some(unknown)} {are} of Kafka's internal topics: {what_happens}"


def of_other_bytes(differ: int, alike: int, cluster_id: str) -> Iterator[str]:
    """Offsets that came again with other bytes, and with the same."""
    if differ >= _HUNDRED or (differ >= _SOME and differ > alike):
        yield (
            f"{differ} offsets came again with other bytes, {alike} with the same: this looks like "
            f"a cluster (or topic) that was rebuilt, or like another cluster than the one that "
            f"{_named(cluster_id)} was so far; give it a name of its own in moldau.yml, and load "
            "it with that --cluster"
        )


def of_snapshot(bad_files: Sequence[str], files: int, kind: str) -> Iterator[str]:
    """A snapshot of which a line was refused."""
    if bad_files:
        others = ", nor of the other files" if files > len(bad_files) else ""
        yield (
            f"nothing of {_some(bad_files)} is loaded{others}: {kind} is a snapshot, which "
            "replaces the one before as a whole or not at all; mend the lines that were refused"
        )


def of_falls(lines: int, first: str | None, rises: str, of: str) -> Iterator[str]:
    """Lines whose time runs back."""
    if first is not None:
        yield (
            f"{rises} runs back on {_count(lines, 'line')}, compared with an earlier line of the "
            f"same {of} (first at {visible(first, 200)}): they are loaded, and their instants "
            "decide, not their order"
        )


def of_parts(group_ids: Sequence[str], groups: int, cluster_id: str) -> Iterator[str]:
    """Groups of which this load shows parts alone; `group_ids`: some of them."""
    if groups:
        names = _some(group_ids, groups)
        yield (
            f"the export of __consumer_offsets does not begin at the start of the log: of "
            f"{_count(groups, 'group')} of {_named(cluster_id)} there are members or assignments, "
            f"and never a record of the group itself ({names}). Types and states are as Kafka's "
            "replay of these records gives them; epochs, subscriptions and offsets committed "
            "before are missing. Read the topic from its start and load that, too"
        )


def _some(names: Sequence[str], of: int | None = None) -> str:
    more = (of or len(names)) - len(names[:NAMED])
    told = ", ".join(map(_named, names[:NAMED]))
    return f"{told} and {more} more" if more > 0 else told


def _named(name: str) -> str:
    return visible(name, 100) or "''"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
