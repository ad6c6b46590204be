"""The plugin `directory` on storage that takes a few milliseconds to answer."""

from __future__ import annotations

import time

from moldau.plugins.directory import DirectoryPlugin

CALL_SECONDS = 0.005


class SlowDirectory(DirectoryPlugin):
    def delete_topology(self, group_id: str) -> None:
        time.sleep(CALL_SECONDS)
        super().delete_topology(group_id)
