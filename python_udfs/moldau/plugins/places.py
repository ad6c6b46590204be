"""Where a plugin keeps what it stores: local paths and URLs."""

from __future__ import annotations

from pathlib import Path


def is_local(path: str) -> bool:
    """Whether it is a path without a protocol such as `s3://`, or a chain of them with `::`."""
    return "://" not in path and "::" not in path


def absolute(path: str, folder: Path) -> str:
    """A local path as an absolute one, relative to `folder`; a URL as it is."""
    return str((folder / Path(path).expanduser()).absolute()) if is_local(path) else path
