"""A year of small runs: what a round costs after many others.

    python benchmarks/many_rounds.py [--rounds 3000] [--groups 220] [--every 100] [--idle N]

A round is a load of five commits, a cycle and a sweep, all in one session, on 220 groups. For each
hundred rounds: the median CPU of a round and of each verb, the live files of the table that has
most, bytes on disk beside those of live files, and files of logs.

With `--idle N` that many ticks of `moldau watch` instead, one after the other on a clock that runs
a minute each, of which none finds anything new: the median CPU of one for each `--every`, and
files of the log of `state.runs`, which is all that they write.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from measure import scratch

sys.path.append(str(Path(__file__).parents[1] / "tests" / "python"))
from encode import encode_key, encode_value

from moldau.runs.decide import decide
from moldau.runs.idle import idle_run
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import Settings, load_settings
from moldau.warehouse.contracts import tables
from moldau.warehouse.damage import data_files, open_table
from moldau.warehouse.lock import locked

FAMILY = "consumer_offsets"
AT_MS = 1_800_000_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--groups", type=int, default=220)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--idle", type=int, default=0)
    options = parser.parse_args()
    if options.idle:
        with scratch() as folder:
            bench_idle(load_settings(None, folder / "w"), folder, options)
        return
    print("| rounds | CPU of a round, ms | load | cycle | sweep | most live files | MB | live MB |")
    print("|---|---|---|---|---|---|---|---|")
    with (
        scratch() as folder,
        open_session(load_settings(None, folder / "w"), "benchmark") as session,
    ):
        rounds = Rounds(session, folder, options.groups)
        for number in range(options.rounds):
            rounds.go(number)
            if (number + 1) % options.every == 0:
                print(rounds.told(number + 1, options.every), flush=True)


def bench_idle(settings: Settings, folder: Path, options: argparse.Namespace) -> None:
    with open_session(settings, "benchmark") as session:
        Rounds(session, folder, options.groups)
        decide(session, "cycle", ["c"], AT_MS, is_dry_run=False)
    print("| idle ticks | CPU of a tick, ms | slowest, ms | files of the log |")
    print("|---|---|---|---|")
    log = settings.warehouse / "state" / "runs" / "_delta_log"
    spent: list[float] = []
    for number in range(1, options.idle + 1):
        before = time.process_time()
        with locked(settings.warehouse.resolve(), "benchmark"):
            run = idle_run(settings, "cycle", ["c"], AT_MS + 60_000 * number, is_dry_run=False)
        spent.append(1000 * (time.process_time() - before))
        assert run is not None, "the tick is not idle"
        if number % options.every == 0:
            last = spent[-options.every :]
            cells = (number, f"{statistics.median(last):.1f}", f"{max(last):.0f}")
            print(f"| {' | '.join(map(str, cells))} | {len(list(log.iterdir()))} |", flush=True)


class Rounds:
    def __init__(self, session: Session, folder: Path, groups: int) -> None:
        self.session, self.groups, self.offset = session, groups, 0
        self.file = folder / "records.jsonl"
        self.spent: dict[str, list[float]] = {"load": [], "cycle": [], "sweep": []}
        self.commit(range(groups))
        load(session, [self.file], "c", "records")

    def commit(self, numbers: range | list[int]) -> None:
        """A file of a commit of each of these groups."""
        lines = []
        for number in numbers:
            key = {"group": f"group-{number}", "topic": "t", "partition": 0}
            value = {"offset": self.offset, "commitTimestamp": AT_MS}
            lines.append(
                {
                    "topic": "__consumer_offsets",
                    "partition": 0,
                    "offset": self.offset,
                    "timestamp_ms": AT_MS,
                    "timestamp_type": "CreateTime",
                    "key_base64": _text(encode_key(FAMILY, 1, key)),
                    "value_base64": _text(encode_value(FAMILY, 1, 3, value)),
                    "headers": [],
                }
            )
            self.offset += 1
        self.file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def go(self, number: int) -> None:
        chance = random.Random(number)
        self.commit([chance.randrange(self.groups) for _ in range(5)])
        at_ms = AT_MS + number * 60_000
        self._spend("load", lambda: load(self.session, [self.file], "c", "records"))
        for kind in ("cycle", "sweep"):
            self._spend(kind, lambda kind=kind: decide(self.session, kind, ["c"], at_ms, False))

    def _spend(self, verb: str, work: Callable[[], object]) -> None:
        before = time.process_time()
        work()
        self.spent[verb].append(time.process_time() - before)

    def told(self, rounds: int, last: int) -> str:
        spent = [round(1000 * statistics.median(v[-last:])) for v in self.spent.values()]
        live = [
            data_files(open_table(self.session.warehouse.joinpath(*name.split("."))))
            for name in tables()
        ]
        live_bytes = sum(Path(file).stat().st_size for files in live for file in files)
        on_disk = sum(file.stat().st_size for file in self.session.warehouse.glob("*/*/*.parquet"))
        cells = (rounds, sum(spent), *spent, max(map(len, live)))
        return f"| {' | '.join(map(str, cells))} | {on_disk / 1e6:.1f} | {live_bytes / 1e6:.1f} |"


def _text(value: bytes | None) -> str:
    from base64 import b64encode

    return b64encode(value or b"").decode()


if __name__ == "__main__":
    main()
