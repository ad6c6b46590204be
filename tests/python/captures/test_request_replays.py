"""Requests that a real 4.4.0 broker answered while its plugin failed: moldau answers the same.

The groups that pushed are a cluster with the records of each up to the moment in which its member
was asked; each DeleteGroups is one with the records of all groups up to its first plugin call.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from cleanup_support import epochs, expected_of
from spark_support import Record, fold_records, read_capture, read_decoded, rows, with_clusters

from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.sessions.session import Session

CAPTURE = "cleanup-failing"
EXPECTED = expected_of(CAPTURE)
DESCRIPTION = {"subtopologies": [], "globalStores": []}
STREAMS_METADATA, STREAMS_MEMBER = 17, 19
# what a DeleteGroups was: its version, and the groups whose plugin calls tell when it came
DELETIONS = {"delete_v3": 3, "delete_v2": 2, "delete_slow_v3": 3, "delete_v3_late": 3}


@dataclass
class Replay:
    """What is there before, what is asked, what the broker's plugin and clients saw."""

    name: str
    records: list[Record]
    files: dict[str, list[dict[str, Any]]]
    results: dict[str, list[str]]
    answers: list[Any]
    epochs: list[tuple[int, int]] = field(default_factory=list)


def records_until(at_ms: int, group: str | None = None) -> list[Record]:
    both = zip(read_capture(CAPTURE), read_decoded(CAPTURE), strict=True)
    return [
        record
        for record, row in both
        if record.timestamp_ms <= at_ms and group in (None, row["group"])
    ]


def calls(group: str, operation: str) -> list[dict[str, Any]]:
    found = [c for c in EXPECTED["plugin_calls"] if (c["group"], c["op"]) == (group, operation)]
    return [call for call in found if call["result"] != "slow ok"]


def pushes() -> Iterator[Replay]:
    by_group: dict[str, list[dict[str, Any]]] = {}
    for event in EXPECTED["client_log"]:
        by_group.setdefault(event["group"], []).append(event)
    for group, events in by_group.items():
        life = list(takewhile(lambda event: event["op"] != "leave", events))
        joined, asked = life[0], next(event for event in life if event["op"] == "asked")
        pushed = [event for event in life if event["op"] == "push"]
        made = calls(group, "set")[: len(pushed)]
        rows_of_group = [row for row in read_decoded(CAPTURE) if row["group"] == group]
        [member, *_] = [
            row["key"]["memberId"] for row in rows_of_group if row["type"] == STREAMS_MEMBER
        ]
        request = {"group_id": group, "member_id": member}
        written = [
            epochs(row)
            for row in rows_of_group
            if row["type"] == STREAMS_METADATA
            and row["value"] is not None
            and asked["ms"] < row["timestamp_ms"] <= pushed[-1]["ms"]
        ]
        yield Replay(
            group,
            records_until(asked["ms"], group),
            {
                "heartbeats": [
                    request
                    | {
                        "request_id": group, "request_version": 1, "member_epoch": joined["epoch"],
                        "response_error": "NONE", "status_codes": None,
                        "received_at_ms": asked["ms"],
                    }
                ],
                "topology_pushes": [
                    request
                    | {
                        "request_id": f"{group} {n}", "topology_epoch": 0,
                        "received_at_ms": call["ms"], "topology_description": DESCRIPTION,
                    }
                    for n, call in enumerate(made)
                ],
            },
            {f"set {group}": [call["result"] for call in made]},
            [(event["error"], event["message"]) for event in pushed],
            written[-1:],
        )  # fmt: skip


def deletions() -> Iterator[Replay]:
    for name, version in DELETIONS.items():
        answers = EXPECTED["actions"][name]
        made = {group: calls(group, "delete") for group in answers}
        told = [group for group in answers if "-delete" in group] or list(answers)
        # of a group that is in two requests the first call is not the second request's
        late = name == "delete_v3_late"
        at_ms = min(made[group][-1 if late else 0]["ms"] for group in told if made[group])
        if name == "delete_v2":
            at_ms = made["fail-delete2-off"][0]["ms"]
        yield Replay(
            name,
            records_until(at_ms - 1),
            {
                "group_deletions": [
                    {
                        "request_id": "d0", "request_version": version,
                        "group_ids": list(answers), "received_at_ms": at_ms,
                    }
                ]
            },
            {group: [call["result"] for call in found[:1]] for group, found in made.items()},
            sorted((group, a["error"], a["message"]) for group, a in answers.items()),
        )  # fmt: skip


PUSHES = list(pushes())
ALL_PUSHES = Replay(
    "all pushes",
    [record for replay in PUSHES for record in replay.records],
    {
        kind: [line for replay in PUSHES for line in replay.files[kind]]
        for kind in ("heartbeats", "topology_pushes")
    },
    {name: ends for replay in PUSHES for name, ends in replay.results.items()},
    [],
)
CLUSTERS = [ALL_PUSHES, *deletions()]


@pytest.fixture(scope="module")
def replayed(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("requests")
    settings = {}
    for replay in CLUSTERS:
        (folder / replay.name).mkdir()
        (folder / replay.name / "results.json").write_text(json.dumps(replay.results))
        for group in replay.results:  # nobody waits for a slow delete here
            (folder / replay.name / f"{group}.go").touch()
        settings[replay.name] = (
            "{authority: moldau, ruleset: {groups: kafka_4_4}, "
            f"plugin: {{name: replayed, folder: {folder / replay.name}}}}}"
        )
    charged = with_clusters(session, settings)
    fold_records(charged, {replay.name: replay.records for replay in CLUSTERS})
    for replay in CLUSTERS:
        for kind, lines in replay.files.items():
            file = Path(folder / replay.name / f"{kind}.jsonl")
            file.write_text("".join(json.dumps(line) + "\n" for line in lines))
            load(charged, [file], replay.name, kind)
    decide(
        charged,
        "requests",
        [replay.name for replay in CLUSTERS],
        1_800_000_000_000,
        is_dry_run=False,
    )
    return charged


def test_every_push_of_the_capture_is_replayed() -> None:
    sets = [call for call in EXPECTED["plugin_calls"] if call["op"] == "set"]
    # the second push of slow-race came after its member had left and come again
    assert sum(len(replay.answers) for replay in PUSHES) == len(sets) - 1
    ends = {end for replay in PUSHES for several in replay.results.values() for end in several}
    assert ends == {"ok", "permanent", "transient", "null future", "throw"}


@pytest.mark.parametrize("replay", PUSHES, ids=lambda replay: replay.name)
def test_a_push_gets_the_brokers_answer(replayed: Session, replay: Replay) -> None:
    where = f"where cluster_id = 'all pushes' and group_id = '{replay.name}'"
    gates = rows(replayed, f"select reason_code from decisions.heartbeat_gates {where}")
    assert gates == [("REQUIRED",)]
    found = rows(
        replayed,
        "select error_code, error_message from decisions.topology_push_results "
        f"{where} order by received_at_ms",
    )
    assert found == replay.answers
    after = rows(
        replayed,
        "select stored_description_topology_epoch, failed_description_topology_epoch "
        f"from state.groups {where}",
    )
    assert after == replay.epochs


@pytest.mark.parametrize("name", DELETIONS)
def test_a_deletion_gets_the_brokers_answer(replayed: Session, name: str) -> None:
    [replay] = [replay for replay in CLUSTERS if replay.name == name]
    found = rows(
        replayed,
        "select group_id, error_code, error_message from decisions.group_deletion_results "
        f"where cluster_id = '{name}'",
    )
    assert sorted(found) == replay.answers
