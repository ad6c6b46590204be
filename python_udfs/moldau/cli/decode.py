"""`moldau decode`: records as JSON Lines with Kafka's own field names, without Spark."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moldau.cli.failures import FINDINGS
from moldau.cli.options import place_options
from moldau.cli.say import Data, hand_over, say, warn
from moldau.reading.tables.values import to_json

if TYPE_CHECKING:
    from moldau.sessions.brought import Refusal


@click.command(name="decode")
@click.argument("file", type=click.Path(path_type=Path))
@place_options
def decode(file: Path, topic: str | None = None, partition: int | None = None) -> None:
    """Print the records of FILE, decoded, one JSON object a line.

    FILE is what `moldau load` takes as records: JSON Lines, Parquet, a segment of a log, what
    Kafka's own tools print, a folder of these, or - for standard input.

    A malformed line is named on stderr and left out; the exit code is then 2. A record that
    cannot be decoded is printed with its decode_status; stderr counts these by topic and status,
    and names topics that are none of Kafka's internal ones.

    \b
    Example:
      moldau decode samples/__consumer_offsets.jsonl | grep StreamsGroupMetadata
      moldau decode /var/lib/kafka/data/__consumer_offsets-12
    """
    from moldau.loading import remarks
    from moldau.loading.decoded_rows import decode_files
    from moldau.loading.inputs import Place, inputs
    from moldau.loading.tally import Tally

    refused = 0
    tally = Tally()
    unknown_topics: set[str] = set()
    said: list[str] = []

    def refuse(refusal: Refusal) -> None:
        nonlocal refused
        refused += 1
        say(f"refused {refusal}", err=True)

    try:
        read = inputs([file], said.append)
        place = Place(topic, partition)
        for record in decode_files(read, refuse, tally, unknown_topics, said.append, place):
            hand_over(to_json(record) + "\n")
        Data.flush()
    except BrokenPipeError:
        # the reader has seen enough (`| head`); Python must not flush into the closed pipe again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    notes = [*said, *remarks.of_statuses(tally)]
    notes += remarks.of_topics(sorted(unknown_topics), "their records are printed as bytes")
    for note in notes:
        warn(note)
    if refused:
        say(f"{refused} lines refused", err=True)
        click.get_current_context().exit(FINDINGS)
