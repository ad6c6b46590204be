"""A command that has dbt in memory ends at once, and as whole as any other."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import atexit, sys
from moldau.cli.leaving import leave

class Heavy:
    def __del__(self):
        print("taken apart")

atexit.register(print, "told at the end")
if {is_dbt_there}:
    import dbt.cli.main
heavy = Heavy()
print("said")
print("warned", file=sys.stderr)
leave(3)
"""


@pytest.mark.parametrize("is_dbt_there", [False, True])
def test_all_that_was_said_arrives(is_dbt_there: bool) -> None:
    program = PROGRAM.format(is_dbt_there=is_dbt_there)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (3, "warned\n")
    taken_apart = [] if is_dbt_there else ["taken apart"]
    assert ended.stdout.splitlines() == ["said", "told at the end", *taken_apart]
