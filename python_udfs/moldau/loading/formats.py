"""Which files can be read, by their names."""

from __future__ import annotations

from pathlib import Path

STDIN = Path("-")
PACKINGS = (".gz", ".zst")
LINES, ARRAYS = (".jsonl", ".ndjson"), (".json",)
TEXTS = (".txt",)  # what Kafka's own tools print
PARQUET, SEGMENT = ".parquet", ".log"
ENDINGS = (*LINES, *ARRAYS, "these with .gz or .zst", *TEXTS, PARQUET, SEGMENT)

ENDINGS_OF_RECORDS = (SEGMENT, *TEXTS)  # of what holds nothing else


def ending(file: Path) -> tuple[str, str]:
    """Of the name in lower case, without what tells the packing; and that, or nothing."""
    name = file.name.lower()
    packing = next((each for each in PACKINGS if name.endswith(each)), "")
    name = name.removesuffix(packing)
    known = (*LINES, *ARRAYS, *TEXTS, PARQUET, SEGMENT)
    return next((each for each in known if name.endswith(each)), ""), packing


def is_loadable(file: Path) -> bool:
    """Of a file in a folder: what is hidden is not meant, nor logs that are no segments."""
    kind, packing = ending(file)
    if file.name.startswith((".", "_")) or kind in ("", SEGMENT, *TEXTS):
        return False
    return kind != PARQUET or not packing


def is_delta(folder: Path) -> bool:
    return (folder / "_delta_log").is_dir()


def is_stream(file: Path) -> bool:
    """Standard input, or a pipe as `<(...)` of a shell makes one: it has no ending."""
    return file == STDIN or file.is_fifo()


def size_of(file: Path) -> int:
    """In bytes; 0 of a stream, of which nobody knows."""
    if is_delta(file):
        return sum(each.stat().st_size for each in file.rglob("*.parquet"))
    return 0 if is_stream(file) else file.stat().st_size
