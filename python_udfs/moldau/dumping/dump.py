"""Dump a topic to a file: each partition from its start to the end that it had at the beginning."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moldau.dumping.brokers import Cluster
from moldau.dumping.client_settings import ClientSettings, require_unicode
from moldau.dumping.consuming import Reader
from moldau.dumping.dumped_files import check_target, complete_file
from moldau.dumping.extents import extents_of
from moldau.dumping.messages import row_of
from moldau.errors import MoldauError
from moldau.warehouse.log_spans import Span

Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Dumped:
    """Of one partition: what of it was read, and how many records of it are in the file."""

    span: Span
    records: int


def dump(
    settings: ClientSettings,
    topic: str,
    target: Path,
    timeout: float,
    warn: Callable[[str], None],
    tell_progress: Told,
) -> list[Dumped]:
    """Write the committed records of a topic to `target`, which is there when it is complete.

    `timeout` in seconds: how long the cluster may be silent. `warn` is told lines for a person,
    `tell_progress` how many offsets are done, and of how many. MoldauError in one line when the
    cluster cannot be reached, refuses, or falls silent.
    """
    check_target(target)
    if not topic:
        raise MoldauError("the topic has no name")
    require_unicode("the name of the topic", topic)
    with _ended_by_signals():
        cluster = Cluster(settings, timeout)
        extents = extents_of(cluster, topic)
        total = sum(each.end - each.start for each in extents)
        reader = Reader(cluster, topic, extents, warn)
        written: Counter[int] = Counter()
        with complete_file(target) as write, contextlib.closing(reader.batches()) as batches:
            for records in batches:
                write([row_of(record) for record in records])
                written.update(int(record.partition() or 0) for record in records)
                tell_progress(total - reader.remaining(), total)
        tell_progress(total, total)
    for each in extents:
        if each.hidden:
            warn(
                f"{each.name}: an open transaction hides {each.hidden} offsets, "
                f"those from {each.end} on"
            )
    return [Dumped(each, written[each.partition_index]) for each in extents]


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as Ctrl-C does: what is unfinished is cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, end) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
