"""Where the dbt project lies (the checkout, or the copy that the wheel carries), and its cache.

`python -m moldau.project` says it, for `local:` in packages.yml of a dbt project of one's own.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent

ROOT = _CHECKOUT if (_CHECKOUT / "dbt_project.yml").is_file() else _PACKAGE / "project"
SAMPLES = ROOT / "samples"
SEEDS = ROOT / "seeds"
PROFILES = ROOT / "profiles"


def cache_folder(what: str) -> Path:
    """Of this user, for one kind of what can be made anew at any time; it may not be there yet."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "moldau" / what


def seeds_digest() -> str:
    """Changes if and only if the files of the look-up tables do."""
    files = sorted(SEEDS.glob("*.csv"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


if __name__ == "__main__":
    print(ROOT)
