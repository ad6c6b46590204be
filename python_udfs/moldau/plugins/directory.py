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
    """`<path>/<cluster_id>/<group_id>.json` with cluster_id, group_id, topology_epoch, description.

    Files have the names that moldau 0.1.0 gave them where these have no upper-case letters; where
    they have, a file of the former name is found, deleted, and moved with the next description.
    """

    public_options = ("path",)

    def __init__(self, path: str, **storage_options: Any) -> None:
        """`path`: folder or URL; `storage_options` are for fsspec's file system."""
        self._path = path
        self._storage_options = storage_options

    def open(self, cluster_id: str, warehouse: Path, folder: Path) -> None:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem

        self._files, root = url_to_fs(absolute(self._path, folder), **self._storage_options)
        self._is_local = isinstance(self._files, LocalFileSystem)
        self._cluster_id = cluster_id
        root, name, former = root.rstrip("/"), file_name(cluster_id), former_name(cluster_id)
        self._folder = f"{root}/{name}"
        listed = self._names_in(root)
        # `East` is also found where only `east` is, which may be another cluster's
        self._former_folders = {self._folder, *([f"{root}/{former}"] if former in listed else [])}
        other = next((it for it in listed if it.casefold() == name.casefold()), name)
        if name not in listed and other != name and self._files.exists(self._folder):
            raise OSError(
                f"{other} in {root} is taken for {name}: rename it to {_with_case(other)}"
            )

    def set_topology(self, group_id: str, topology_epoch: int, description: Any) -> None:
        held: dict[str, Any] = {"cluster_id": self._cluster_id, "group_id": group_id}
        held |= {"topology_epoch": topology_epoch, "description": description}
        content = json.dumps(held, indent=2).encode()
        self._files.makedirs(self._folder, exist_ok=True)
        other = self._read(self._file(group_id))
        if other and not self._is_of(other, group_id):  # of `Group` where `group` is the same file
            place = self._file(str(other.get("group_id")))
            if place != self._file(group_id) and self._read(place) is None:
                self._write(place, json.dumps(other, indent=2).encode())
        self._write(self._file(group_id), content)
        self._delete_former(group_id)

    def delete_topology(self, group_id: str) -> None:
        stored = self._read(self._file(group_id))
        if stored is not None and (not stored or self._is_of(stored, group_id)):
            self._delete(self._file(group_id))
        self._delete_former(group_id)

    def get_topology(self, group_id: str, topology_epoch: int) -> Any:
        for file in (self._file(group_id), *self._former_files(group_id)):
            stored = self._read(file)
            if stored == {}:
                raise ValueError(f"{file} does not hold a description")
            if stored and self._is_of(stored, group_id):
                is_asked = stored["topology_epoch"] == topology_epoch
                return stored["description"] if is_asked else None
        return None

    def list_topologies(self) -> list[tuple[str, int]]:
        held: dict[str, int] = {}
        for folder in sorted(self._former_folders):
            for name in sorted(self._names_in(folder)):
                stored = self._read(f"{folder}/{name}") if name.endswith(".json") else None
                group_id = stored and stored.get("group_id")
                if stored and group_id and self._is_of(stored, group_id):
                    held[group_id] = stored["topology_epoch"]
        return list(held.items())

    def _file(self, group_id: str) -> str:
        return f"{self._folder}/{file_name(group_id)}.json"

    def _former_files(self, group_id: str) -> list[str]:
        """Where moldau 0.1.0 put what now has another name."""
        files = {f"{folder}/{former_name(group_id)}.json" for folder in self._former_folders}
        return sorted(files - {self._file(group_id)})

    def _delete_former(self, group_id: str) -> None:
        for file in self._former_files(group_id):
            stored = self._read(file)
            if stored and self._is_of(stored, group_id):
                self._delete(file)

    def _is_of(self, stored: dict[str, Any], group_id: str) -> bool:
        """The file names its group; its cluster too, unless moldau 0.1.0 wrote it."""
        cluster_id = stored.get("cluster_id", self._cluster_id)
        return (cluster_id, stored.get("group_id")) == (self._cluster_id, group_id)

    def _read(self, file: str) -> dict[str, Any] | None:
        """What a file holds, {} if that is no description; None = there is no file."""
        try:
            stored = json.loads(self._files.cat_file(file))
        except FileNotFoundError:
            return None
        except ValueError:
            return {}
        return stored if isinstance(stored, dict) else {}

    def _write(self, file: str, content: bytes) -> None:
        if self._is_local:
            _replace(Path(file), content)
        else:
            self._files.pipe_file(file, content)

    def _delete(self, file: str) -> None:
        try:
            self._files.rm_file(file)
        except FileNotFoundError:
            return

    def _names_in(self, folder: str) -> set[str]:
        try:
            entries = self._files.ls(folder, detail=False)
        except (FileNotFoundError, NotImplementedError):
            return set()
        return {entry.rstrip("/").rsplit("/", 1)[-1] for entry in entries}


def file_name(name: str) -> str:
    """A name that any file system takes and that leads nowhere else.

    Percent-encoded but for lower-case letters, digits and `-._~`, a leading dot too, so that no two
    differ by case alone. What is then longer than 200 bytes is its beginning, `=` (which an encoded
    name never has) and a SHA-256.
    """
    return _bounded(name, _with_case(_encoded(name)))


def former_name(name: str) -> str:
    """What moldau 0.1.0 gave for `file_name`: upper-case letters stood as they were."""
    return _bounded(name, _encoded(name))


def _encoded(name: str) -> str:
    encoded = quote(name, safe="", errors="surrogatepass")
    return "%2E" + encoded[1:] if encoded.startswith(".") else encoded


def _with_case(encoded: str) -> str:
    """Upper-case letters encoded too; the digits of what is encoded already are in upper case."""
    return re.sub(
        "%..|[A-Z]", lambda it: it[0] if it[0][0] == "%" else f"%{ord(it[0]):02X}", encoded
    )


def _bounded(name: str, encoded: str) -> str:
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
