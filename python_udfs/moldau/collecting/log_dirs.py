"""What lies in the log folders of a broker: rows of `local_segments` and `leader_epochs`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from moldau.collecting.segments import segments_in
from moldau.collecting.topics import OFFSETS
from moldau.errors import MoldauError

# UnifiedLog.parseTopicPartitionName; what a broker deletes, moves or does not know has an ending
_FOLDER = re.compile(r"([a-zA-Z0-9._-]{1,249})-(\d+)")
_OF_THE_CONTROLLER = "__cluster_metadata"
_ID = re.compile(r"^topic_id:\s*(\S+)\s*$", re.MULTILINE)


@dataclass
class OnDisk:
    """Rows by kind of file, and a line for each folder that could not be read."""

    broker_id: int
    rows: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {"local_segments": [], "leader_epochs": []}
    )
    findings: list[str] = field(default_factory=list)

    @property
    def offsets_id(self) -> str | None:
        """The id of __consumer_offsets; null = no partition of it is there."""
        ids = (row["topic_id"] for row in self.rows["leader_epochs"] if row["topic"] == OFFSETS)
        return next(ids, None)


def read_log_dirs(folders: Sequence[Path]) -> OnDisk:
    """The partitions in all log folders (`log.dirs`) of one broker.

    MoldauError if a folder is none of a broker, or they are of several.
    """
    brokers = {_broker_id(folder) for folder in folders}
    if len(brokers) != 1:
        raise MoldauError(f"--log-dir: these are folders of brokers {sorted(brokers)}: give one's")
    found = OnDisk(brokers.pop())
    for folder in folders:
        for each, topic, index in _partitions(folder):
            try:
                _read(found, each, topic, index)
            except FileNotFoundError as error:
                # deleted while it was looked at; or older than topic ids
                if each.is_dir():
                    found.findings.append(f"{each}: {Path(error.filename).name} is not there")
            except (OSError, ValueError) as error:
                said = error.strerror if isinstance(error, OSError) else error
                found.findings.append(f"{each}: {said}")
    return found


def _read(found: OnDisk, folder: Path, topic: str, index: int) -> None:
    epochs = _epochs(folder / "leader-epoch-checkpoint")
    segments = segments_in(folder)
    of_partition = {
        "topic_id": _topic_id(folder / "partition.metadata"),
        "topic": topic,
        "partition": index,
    }
    found.rows["leader_epochs"].append({**of_partition, "epochs": epochs})
    found.rows["local_segments"].append(
        {**of_partition, "broker_id": found.broker_id, "segments": segments}
    )


def _broker_id(folder: Path) -> int:
    """By meta.properties, which every log folder has: `node.id`, before KRaft `broker.id`."""
    try:
        text = (folder / "meta.properties").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise MoldauError(
            f"{folder} is no log folder of a broker: meta.properties: {error.strerror}"
        ) from None
    told = re.search(r"^(?:node|broker)\.id\s*=\s*(\d+)\s*$", text, re.MULTILINE)
    if not told:
        raise MoldauError(f"{folder}/meta.properties names no node.id")
    return int(told[1])


def _partitions(folder: Path) -> Iterator[tuple[Path, str, int]]:
    for each in sorted(folder.iterdir()):
        told = _FOLDER.fullmatch(each.name)
        if told and told[1] != _OF_THE_CONTROLLER and each.is_dir():
            yield each, told[1], int(told[2])


def _topic_id(file: Path) -> str:
    told = _ID.search(file.read_text(encoding="ascii"))
    if not told:
        raise ValueError("partition.metadata names no topic_id")
    return told[1]


def _epochs(file: Path) -> list[dict[str, int]]:
    """Version, number of entries, and a line each of epoch and start offset."""
    version, count, *entries = file.read_text(encoding="ascii").split("\n")
    if version != "0" or len([entry for entry in entries if entry]) != int(count):
        raise ValueError("leader-epoch-checkpoint is not of version 0, or not whole")
    listed = [entry.split() for entry in entries if entry]
    return [{"epoch": int(epoch), "start_offset": int(offset)} for epoch, offset in listed]
