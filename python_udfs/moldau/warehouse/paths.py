"""What lies beside the tables, in `<warehouse>/_moldau`."""

from pathlib import Path

_INSIDE = Path("_moldau")
LOCK = _INSIDE / "lock"
LOADS = _INSIDE / "loads"  # files of loads that did not end
RUNS = _INSIDE / "runs"  # journals of runs that did not end
IDLE = _INSIDE / "idle"  # what the last run of each kind decided on
SEEDED = _INSIDE / "seeds.sha256"  # the look-up tables that were loaded last
