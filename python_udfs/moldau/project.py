"""Where the dbt project lies: the checkout, or the copy that the wheel carries.

`python -m moldau.project` says it, for `local:` in packages.yml of a dbt project of one's own.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent

ROOT = _CHECKOUT if (_CHECKOUT / "dbt_project.yml").is_file() else _PACKAGE / "project"
SAMPLES = ROOT / "samples"
SEEDS = ROOT / "seeds"
PROFILES = ROOT / "profiles"


def seeds_digest() -> str:
    """Changes if and only if the files of the look-up tables do."""
    files = sorted(SEEDS.glob("*.csv"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


if __name__ == "__main__":
    print(ROOT)
