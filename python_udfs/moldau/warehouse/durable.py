"""Write files as a whole, and so that they are on the disk when the call returns."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from moldau.errors import MoldauError


def write_durably(path: Path, text: str) -> None:
    """Write a file as a whole: it is there with all of its text, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(text)
    fsync(unfinished)
    os.rename(unfinished, path)
    fsync(path.parent)


@contextlib.contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Where to write a file that somebody asked for: it gets its name, in the place of an older
    one, when the block ends well. MoldauError if its folder is missing or cannot be written to."""
    if not target.parent.is_dir():
        raise MoldauError(f"the folder {target.parent} does not exist")
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        yield unfinished
        os.replace(unfinished, target)
    except OSError as error:
        raise MoldauError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()


def fsync(*paths: Path) -> None:
    """Files and folders whose content must outlive a crash of the machine."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
