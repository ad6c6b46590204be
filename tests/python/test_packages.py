"""Packages import downwards: what one may touch can be told from where it stands in this list."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from moldau.project import ROOT

PACKAGE = ROOT / "python_udfs" / "moldau"
# lowest first
ORDER = [
    "errors",
    "project",
    "instants",
    "escapes",
    "literals",
    "connecting",
    "records",
    "compiled",
    "domains",
    "warehouse",
    "topologies",
    "plugins",
    "engines",
    "settings",
    "replays",
    "reading",
    "metrics",
    "sessions",
    "loading",
    "runs",
    "dumping",
    "collecting",
    "serving",
    "cli",
    "__init__",
    "__main__",
]


def imports() -> Iterator[tuple[Path, str]]:
    """File and package that it imports, also within functions, but for types alone."""
    for file in PACKAGE.rglob("*.py"):
        tree = ast.parse(file.read_text())
        for_types = {
            id(inner)
            for node in ast.walk(tree)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            for inner in ast.walk(node)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and id(node) not in for_types:
                words = (node.module or "").split(".")
                if words[0] == "moldau" and len(words) > 1:
                    yield file, words[1]


def test_packages_import_downwards() -> None:
    """A domain names, in functions, what each layer has of it: it is read by them all."""
    for file, imported in imports():
        package = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        is_below = ORDER.index(imported) <= ORDER.index(package)
        assert is_below or package == "domains", f"{file} imports {imported}"


def test_domains_import_nothing_before_they_are_asked() -> None:
    for file in (PACKAGE / "domains").glob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("moldau."):
                assert str(node.module).startswith("moldau.domains"), file


def test_no_two_files_of_tests_have_one_name() -> None:
    """All of them are imported by their names alone: the second would be taken for the first."""
    names = Counter(f.name for f in (ROOT / "tests").rglob("*.py") if f.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []
