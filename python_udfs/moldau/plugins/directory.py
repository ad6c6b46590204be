"""Descriptions as files: one JSON file a group, in any place that fsspec reaches."""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

from moldau.plugins.places import absolute
from moldau.plugins.protocol import TopologyDescriptionPlugin

_LONGEST_NAME = 200
_KEPT_PREFIX = 100


class DirectoryPlugin(TopologyDescriptionPlugin):
    """`<path>/<cluster_id>/<group_id>.json` with group_id, topology_epoch and description."""

    def __init__(self, path: str, **storage_options: Any) -> None:
        """`path`: folder or URL; `storage_options` are for fsspec's file system."""
        self._path = path
        self._storage_options = storage_options

    def open(self, cluster_id: str, warehouse: Path, folder: Path) -> None:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem

        self._files, root = url_to_fs(absolute(self._path, folder), **self._storage_options)
        self._is_local = isinstance(self._files, LocalFileSystem)
        self._folder = f"{root.rstrip('/')}/{file_name(cluster_id)}"

    def set_topology(self, group_id: str, topology_epoch: int, description: Any) -> None:
        content = json.dumps(
            {
                "group_id": group_id,
                "topology_epoch": topology_epoch,
                "description": description,
            },
            indent=2,
        ).encode()
        self._files.makedirs(self._folder, exist_ok=True)
        if self._is_local:
            _replace(Path(self._file(group_id)), content)
        else:
            self._files.pipe_file(self._file(group_id), content)

    def delete_topology(self, group_id: str) -> None:
        try:
            self._files.rm_file(self._file(group_id))
        except FileNotFoundError:
            return

    def get_topology(self, group_id: str, topology_epoch: int) -> Any:
        try:
            stored = json.loads(self._files.cat_file(self._file(group_id)))
        except FileNotFoundError:
            return None
        if (stored["group_id"], stored["topology_epoch"]) != (group_id, topology_epoch):
            return None
        return stored["description"]

    def _file(self, group_id: str) -> str:
        return f"{self._folder}/{file_name(group_id)}.json"


def file_name(name: str) -> str:
    """A name that any file system takes and that leads nowhere else.

    Percent-encoded but for letters, digits and `-._~`, a leading dot too. What is then longer
    than 200 bytes is its beginning, `=` (which an encoded name never has) and a SHA-256.
    """
    encoded = quote(name, safe="", errors="surrogatepass")
    if encoded.startswith("."):
        encoded = "%2E" + encoded[1:]
    if len(encoded) <= _LONGEST_NAME:
        return encoded
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()
    return re.sub("%.?$", "", encoded[:_KEPT_PREFIX]) + "=" + digest


def _replace(file: Path, content: bytes) -> None:
    """Write a local file as a whole: it is there with all of its content, or as it was."""
    unfinished = file.with_name(f".{uuid.uuid4().hex}.unfinished")
    try:
        with unfinished.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(unfinished, file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
