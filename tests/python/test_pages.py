"""What the README and the pages under docs/ point at is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from moldau.project import ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = [ROOT / "docs" / "monitoring" / "README.md", ROOT / "notebooks" / "README.md"]


@pytest.mark.parametrize("page", [*PAGES, *FOLDERS], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    files = [link for link in links if not link.startswith("http")]
    assert [link for link in files if not (page.parent / link).exists()] == []


def test_every_page_is_found_from_the_readme() -> None:
    readme = PAGES[0].read_text()
    assert [page.name for page in PAGES[2:] if f"docs/{page.name}" not in readme] == []
    assert len(readme.splitlines()) <= 120
