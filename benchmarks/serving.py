"""`moldau serve`: the first page of a new process, each page by size, and twenty readers at once.

    python benchmarks/serving.py [--groups 10000,1000000] [--seconds 60] [--keep FOLDER]

Groups have 3 offsets each, half of which have expired, and are decided about in full. Each page is
asked for twice at a clock of its own: when only its tables are open, and when it was asked before.
The readers ask for all pages in turn, for other groups and words each time. The overview is asked
for as of now, which `serve` keeps, and once at a clock that nobody asked for before. `--keep`: the
warehouse of one size is made there once.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import groups as of_groups
from measure import scratch

from moldau.runs.decide import decide

OFFSETS, READERS = 3, 20
AT = of_groups.AT_MS
PAGES = (
    "/?", "/groups?at={at}", "/groups?at={at}&q={any}", "/groups?at={at}&sort=next+change",
    "/groups?at={at}&sort=offsets+to+expire&page=1000", "/groups?at={at}&next_sweep=tombstone",
    "/group?at={at}&cluster=bench&group=group-{any}", "/tiers?at={at}", "/mirrors?at={at}",
    "/producers?at={at}", "/runs?at={at}", "/decisions?at={at}",
    "/decisions?at={at}&domain=groups&cluster=bench&subject=sweep+group-{any}",
    "/decisions?at={at}&group=group-{any}",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", default="10000,1000000")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    of_groups.COMMITS = of_groups.COMMITS.replace("div 20", f"div {OFFSETS}").replace(
        "% 20", f"% {OFFSETS}"
    )
    of_groups.OFFSETS = OFFSETS
    for count in map(int, options.groups.split(",")):
        print(f"\n{count:,} groups, {count * OFFSETS:,} offsets", flush=True)
        with scratch() as folder:
            warehouse = made(options.keep or folder, count)
            with served(warehouse) as (process, address):
                bench_pages(process, address, count)
                bench_readers(process, address, count, options.seconds)


def made(folder: Path, count: int) -> Path:
    if (folder / "warehouse").is_dir():
        return folder / "warehouse"
    folder.mkdir(parents=True, exist_ok=True)
    with of_groups.warehouse(folder) as session:
        of_groups.make_state(session, count)
        for kind in ("sweep", "cycle"):
            decide(session, kind, ["bench"], AT, is_dry_run=True)
        return session.warehouse


@contextmanager
def served(warehouse: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    started = time.perf_counter()
    words = [sys.executable, "-c", "from moldau.cli import main; main()", "serve", "--port", "0"]
    process = subprocess.Popen(
        [*words, "--warehouse", str(warehouse)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    address = process.stdout.readline().split()[0].rstrip("/")
    ask(address, "/runs")
    print(f"  a new process answers after {time.perf_counter() - started:.2f} s")
    try:
        yield process, address
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def bench_pages(process: subprocess.Popen[str], address: str, count: int) -> None:
    for page in (*PAGES, "/?at={at}"):
        ask(address, page.format(at=AT, any=count // 2))  # its tables are open from now on
        seconds = []
        busy = cpu_seconds(process.pid)
        for _ in range(2):
            started = time.perf_counter()
            size = len(ask(address, page.format(at=AT + 1, any=count // 3)))
            seconds.append(time.perf_counter() - started)
        busy = cpu_seconds(process.pid) - busy
        name = page.replace("at={at}", "").replace("?&", "?").rstrip("?")
        print(
            f"  {name}: {seconds[0]:.2f} s, again {seconds[1]:.3f} s, {busy:.2f} s of CPU; "
            f"{size:,} bytes"
        )


def bench_readers(process: subprocess.Popen[str], address: str, count: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    seconds_of: list[list[float]] = [[] for _ in range(READERS)]
    errors, peak = [0] * READERS, 0

    def read(reader: int) -> None:
        chosen = random.Random(reader)
        while time.monotonic() < end:
            page = chosen.choice(PAGES).format(at=AT, any=chosen.randrange(count))
            started = time.perf_counter()
            try:
                ask(address, page)
                seconds_of[reader].append(time.perf_counter() - started)
            except OSError:
                errors[reader] += 1

    readers = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
    for reader in readers:
        reader.start()
    while any(reader.is_alive() for reader in readers):
        peak = max(peak, resident_mb(process.pid))
        time.sleep(0.1)
    took = sorted(itertools.chain(*seconds_of))
    middle, most = (took[int(len(took) * part)] for part in (0.5, 0.95))
    print(
        f"  {READERS} readers, {seconds:g} s: {len(took)} pages, {sum(errors)} errors, "
        f"p50 {middle:.2f} s, p95 {most:.2f} s, at most {took[-1]:.2f} s and {peak} MB"
    )


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def ask(address: str, page: str) -> bytes:
    with urllib.request.urlopen(address + page, timeout=120) as answer:
        return bytes(answer.read())


if __name__ == "__main__":
    main()
