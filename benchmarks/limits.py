"""What a load of a file of any content takes: peak resident memory of `moldau load`, and time.

    python benchmarks/limits.py [--part NAME]

Each is a process of its own on a new warehouse. The last lines are figures of ordinary loads.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
from measure import scratch

MIB = 1024 * 1024
OPEN = {"group_id": "g", "topic": "orders", "partition": 0, "producer_id": 1}
PROGRAM = [sys.executable, "-c", "from moldau.cli import main; main()"]


def blocks(file: Path, block: bytes, times: int) -> Path:
    with gzip.open(file, "wb", compresslevel=1) if file.suffix == ".gz" else file.open("wb") as out:
        for _ in range(times):
            out.write(block)
    return file


def snapshot(file: Path, rows: int) -> Path:
    lines = (json.dumps(OPEN | {"producer_id": number}) + "\n" for number in range(rows))
    with file.open("w") as out:
        out.writelines(lines)
    return file


def row_group(file: Path, rows: int) -> Path:
    columns = {
        "group_id": pa.array([f"group-{number % 1000}" for number in range(rows)]),
        "topic": pa.array(["orders"] * rows),
        "partition": pa.array([0] * rows, pa.int32()),
        "producer_id": pa.array(range(rows), pa.int64()),
    }
    pa.parquet.write_table(pa.table(columns), file, row_group_size=rows)
    return file


PARTS: dict[str, tuple[str, str, Callable[[Path], Path]]] = {
    "a line of 400 MiB": ("records", ".jsonl", lambda f: blocks(f, b"a" * MIB, 400)),
    "a line of 2 GiB": ("records", ".jsonl", lambda f: blocks(f, b"a" * MIB, 2048)),
    "gzip, 10 GiB of zeros": ("records", ".jsonl.gz", lambda f: blocks(f, bytes(16 * MIB), 640)),
    "gzip, 10 GiB of newlines": ("records", ".jsonl.gz", lambda f: blocks(f, b"\n" * MIB, 10240)),
    "1 GiB of newlines": ("records", ".jsonl", lambda f: blocks(f, b"\n" * MIB, 1024)),
    "2 M refused lines": ("records", ".jsonl", lambda f: blocks(f, b"no\n" * 10_000, 200)),
    "a snapshot of 5 M rows": ("open_transactions", ".jsonl", lambda f: snapshot(f, 5_000_000)),
    "a row group of 3 M rows": ("open_transactions", ".parquet", lambda f: row_group(f, 3_000_000)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS)
    options = parser.parse_args()
    print("| file | peak, MiB | s | exit code | told |\n|---|---|---|---|---|")
    for name, (kind, suffix, make) in PARTS.items():
        if options.part in (None, name):
            with scratch() as folder:
                print(f"| {name} | {measured(make(folder / f'file{suffix}'), kind, folder)} |")


def measured(file: Path, kind: str, folder: Path) -> str:
    words = ["load", str(file), "--cluster", "c", "--kind", kind, "--warehouse", str(folder / "w")]
    started = time.perf_counter()
    with (folder / "told").open("w") as told:
        process = subprocess.Popen([*PROGRAM, *words], stdout=told, stderr=told)
        _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    said = (folder / "told").read_text().splitlines()[0].replace(str(folder) + "/", "")
    code = os.waitstatus_to_exitcode(status)
    return f"{used.ru_maxrss // 1024} | {seconds:.1f} | {code} | {said[:110]}"


if __name__ == "__main__":
    main()
