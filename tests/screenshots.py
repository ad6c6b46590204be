"""`make screenshots`: a picture of each page in docs/pages, of what `moldau demo` makes.

`python tests/screenshots.py [FOLDER]`: the demo's warehouse is made in FOLDER, or taken from it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path += [
    str(Path(__file__).parent / "python"),
    str(Path(__file__).parent / "python" / "serving"),
]
from browser_support import answering, browser

from moldau.cli import run
from moldau.cli.demo import AT_MS
from moldau.plugins.delta import DeltaPlugin
from moldau.project import ROOT, SAMPLES
from moldau.settings import load_settings

PUSHES = SAMPLES / "requests" / "topology_pushes.jsonl"
TARGET = ROOT / "docs" / "pages"
AT = str(AT_MS + 7 * 86_400_000 - 3 * 3_600_000)
PAGES = {
    "overview": f"/?at={AT}",
    "groups": "/groups?sort=next+change",
    "group": f"/group?cluster=east&group=g-classic-deloff&at={AT}",
    "topology": "/topology?cluster=own&group=c-delete-live",
    "tiers": "/tiers",
    "mirrors": "/mirrors",
    "producers": "/producers",
    "runs": "/runs",
    "decisions": "/decisions?domain=groups&reason=SUBSCRIBED",
}
LARGEST = 150_000  # bytes of a picture


def main(folder: Path) -> None:
    warehouse = folder / "demo"
    if not warehouse.exists():
        make(warehouse)
    with (
        answering(load_settings(warehouse / "shown.yml", warehouse, False)) as address,
        browser() as opened,
    ):
        for scheme in ("light", "dark"):
            page = opened.new_page(viewport={"width": 1180, "height": 720}, color_scheme=scheme)
            for name, path in PAGES.items():
                if scheme == "light" or name == "overview":
                    page.goto(address + path)
                    file = TARGET / f"{name}{'' if scheme == 'light' else '-dark'}.png"
                    page.screenshot(path=file)
                    assert file.stat().st_size <= LARGEST, file


def make(warehouse: Path) -> None:
    """The demo, tiered storage, and a topology that a plugin here has."""
    at = ["--warehouse", str(warehouse)]
    assert run(["demo", "--engine", "duckdb", *at]) == 0
    verbs = warehouse.parent / "verbs.txt"
    folder = str(SAMPLES / "tiers")
    verbs.write_text((SAMPLES / "tiers" / "verbs.txt").read_text().replace("samples/tiers", folder))
    assert run(["exec", str(verbs), "--config", str(warehouse / "moldau.yml"), *at]) == 0
    shown = warehouse / "shown.yml"
    shown.write_text("clusters: {own: {authority: moldau, plugin: {name: delta}}}\n")
    plugin = DeltaPlugin()
    plugin.open("own", warehouse, warehouse)
    pushed = json.loads(PUSHES.read_text().splitlines()[0])
    plugin.set_topologies([("c-delete-live", 0, pushed["topology_description"])])


if __name__ == "__main__":
    TARGET.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
