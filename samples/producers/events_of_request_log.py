"""A broker's request log as events of producers, for `moldau load --kind producer_events`.

    python events_of_request_log.py < kafka-request.log > producer_events.jsonl

The broker writes the log with `kafka.request.logger` at DEBUG. Logs of all brokers together, in any
order, tell all: concatenate them. Times of the log are taken for UTC.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

LINE = re.compile(r"\[([-\d]+ [:\d]+,\d{3})\] \w+ Completed request:(\{.*\}) \(kafka\.request")
# errors after which a producer asks for the topic again: its metadata is no longer right
NOTICES = {
    3: "UNKNOWN_TOPIC_OR_PARTITION", 6: "NOT_LEADER_OR_FOLLOWER", 74: "FENCED_LEADER_EPOCH",
    100: "UNKNOWN_TOPIC_ID",
}  # fmt: skip


def requests(lines: Iterable[str]) -> Iterator[tuple[int, int, str, dict[str, Any]]]:
    """When each left and was answered, whose it is, and what the log has of it."""
    for found in filter(None, map(LINE.search, lines)):
        told = json.loads(found[2])
        moment = datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)
        answered = round(moment.timestamp() * 1000)
        client = told["requestHeader"]["clientId"]
        yield answered - round(told["totalTimeMs"]), answered, client, told


def answered_topics(told: dict[str, Any], part: str) -> list[dict[str, Any]]:
    """Those of the response, of which there is none where a client wants none (acks=0)."""
    return (told["response"] or {}).get(part) or []


def events(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Producers are the clients that write; of the others' metadata requests nothing is told."""
    log = list(requests(lines))
    api = {"PRODUCE": [], "METADATA": []}  # type: dict[str, list[Any]]
    for one in log:
        api.setdefault(one[3]["requestHeader"]["requestApiKeyName"], []).append(one)
    producers = {client for _, _, client, _ in api["PRODUCE"]}
    names = {
        topic["topicId"]: topic["name"]
        for *_, told in api["METADATA"]
        for topic in answered_topics(told, "topics")
        # from version 10 on there are ids, and with an error one alone
        if topic.get("topicId") and topic["name"]
    }

    def event(client: str, topic: dict[str, Any], kind: str, at_ms: int) -> dict[str, Any]:
        name = topic.get("name") or names.get(topic.get("topicId"))  # from version 13 on an id
        return {"producer_id": client, "topic": name, "event": kind, "at_ms": at_ms}

    for left, answered, client, told in api["PRODUCE"]:
        for topic in told["request"]["topicData"]:
            yield event(client, topic, "access", left)
        for topic in answered_topics(told, "responses"):
            if any(one["errorCode"] in NOTICES for one in topic["partitionResponses"]):
                yield event(client, topic, "notice", answered)
    for left, answered, client, told in api["METADATA"]:
        if client in producers:
            for topic in answered_topics(told, "topics"):
                yield event(client, topic, "requested", left)
                kind = "topic_error" if topic["errorCode"] else "refreshed"
                yield event(client, topic, kind, answered)


def main() -> None:
    for one in sorted(events(sys.stdin), key=lambda one: one["at_ms"]):
        print(json.dumps(one))


if __name__ == "__main__":
    main()
