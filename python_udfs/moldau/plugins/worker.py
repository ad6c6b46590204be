"""A process beside the command in which plugins are called, as Spark's Python workers are.

A plugin may end the process that it runs in, and may write to its standard output: neither touches
the command. The process starts with the first calls, and keeps its plugins until the run is over.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from moldau.plugins.printed import Printed, secrets_of_all
from moldau.plugins.registry import PluginSpec
from moldau.plugins.slices import call_all

_PROGRAM = "from moldau.plugins.worker import serve; serve()"


class WorkerEndedError(RuntimeError):
    """A plugin, or somebody else, has ended the process."""


class Worker:
    """`log`: where what plugins print goes, without their secrets; the rest is as in
    `register_call_plugin`."""

    def __init__(
        self,
        specs: Mapping[str, PluginSpec],
        journal: Path,
        dies_in_call: Sequence[int],
        log: Path,
    ) -> None:
        self._told = (dict(specs), journal, tuple(dies_in_call))
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._calls: Any = None

    def call(self, rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
        """Make the calls of these rows; a row of `udtf.RETURNS` for each.

        WorkerEndedError if the process ends before they are all made: the next call has another.
        """
        try:
            if self._process is None:
                self._start()
            self._calls.send(list(rows))
            answer = self._calls.recv()
            self._printed.settle()
        except (EOFError, OSError):
            code = self.close()
            raise WorkerEndedError(f"Python worker exited unexpectedly ({code})") from None
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    def _start(self) -> None:
        self._calls, theirs = Pipe()
        number = theirs.fileno()
        reader, writer = os.pipe()
        log = self._log.open("ab", buffering=0)
        self._printed = Printed(reader, log.write, secrets_of_all(self._told[0].values()))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(number)],
            pass_fds=[number],
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        os.close(writer)
        theirs.close()
        self._calls.send(self._told)

    def close(self) -> int | None:
        """End the process, and a call that hangs in it with it; gives its exit code."""
        if self._process is None:
            return None
        self._calls.close()
        try:
            code = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._process = None
        self._printed.join(1)  # longer where a process that the plugin started lives on
        return code


def serve() -> None:
    """What the process does: answer the calls that come through the pipe of this number."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the command that is interrupted
    calls: Any = Connection(int(sys.argv[1]))
    specs, journal, dies_in_call = calls.recv()
    while True:
        try:
            rows = [SimpleNamespace(**row) for row in calls.recv()]
        except EOFError:  # the command has ended
            return
        try:
            calls.send(list(call_all(rows, specs, journal, dies_in_call)))
        except Exception as error:
            calls.send(RuntimeError(str(error)))
