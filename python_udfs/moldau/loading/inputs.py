"""What a person gives `load` or `decode`: files, folders, patterns and `-`, as what is read."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from moldau.errors import MoldauError
from moldau.loading.formats import ENDINGS, is_delta, is_loadable, is_stream
from moldau.loading.segments.log import in_order, is_segment, partition_of
from moldau.records.families import family_of
from moldau.warehouse.paths import LOCK

_PATTERN = "*?["


@dataclass(frozen=True)
class Place:
    """Topic and partition of what does not tell them itself; None = its own."""

    topic: str | None = None
    partition: int | None = None


def inputs(words: Sequence[Path], note: Callable[[str], None]) -> list[Path]:
    """The files that these words mean, in the order of the words; a Delta table is one, too.

    Of a folder: what can be loaded and lies in it, however deep, by name; segments by offset. Of
    a broker's whole disk only Kafka's own topics are taken, and `note` is told of the others.
    MoldauError if a word means nothing.
    """
    found: list[Path] = []
    others: set[str] = set()
    for word in words:
        some = list(_matches(word, others))
        if not some:
            raise MoldauError(f"nothing in {word} can be loaded: {', '.join(ENDINGS)}")
        found += some
    if others:
        names = ", ".join(sorted(others)[:5]) + (" and others" if len(others) > 5 else "")
        note(
            f"the folders of {names} are left out: moldau reads nothing of such topics; name the "
            "folder of a partition to load it all the same"
        )
    return list(dict.fromkeys(found))


def _matches(word: Path, others: set[str]) -> Iterator[Path]:
    if is_stream(word) or word.is_file() or is_delta(word):
        yield word
    elif word.is_dir():
        yield from _within(word, others, ())
    elif any(letter in str(word) for letter in _PATTERN):
        for name in sorted(glob.glob(str(word), recursive=True)):
            yield from _matches(Path(name), others)
    else:
        raise MoldauError(f"{word} is not a file or folder")


def _within(folder: Path, others: set[str], around: tuple[Path, ...]) -> Iterator[Path]:
    """`around`: the folders that it lies in, to none of which a link may lead back."""
    real = folder.resolve()
    if real in around or (folder / LOCK).parent.is_dir():  # a warehouse of moldau
        return
    entries = sorted(folder.iterdir())
    files = [each for each in entries if each.is_file()]
    segments = [file for file in files if is_segment(file)]
    yield from in_order(segments)
    yield from (file for file in files if is_loadable(file) and file not in segments)
    for each in entries:
        if not each.is_dir():
            continue
        partition = partition_of(each)
        if is_delta(each):
            yield each
        elif partition and any(map(is_segment, each.iterdir())):
            if family_of(partition[0]) is None:
                others.add(partition[0])
            elif "." not in each.name.removeprefix(partition[0]):  # none that a broker deletes
                yield from _within(each, others, (*around, real))
        elif not each.name.startswith((".", "_")):
            yield from _within(each, others, (*around, real))
