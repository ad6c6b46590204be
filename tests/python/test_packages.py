"""What `make lint` cannot say of packages: their floors stand in `pyproject.toml`."""

from __future__ import annotations

import ast
from collections import Counter

from moldau.project import ROOT

PACKAGE = ROOT / "python_udfs" / "moldau"


def test_domains_import_nothing_before_they_are_asked() -> None:
    for file in (PACKAGE / "domains").glob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("moldau."):
                assert str(node.module).startswith("moldau.declared"), file


def test_no_two_files_of_tests_have_one_name() -> None:
    """All of them are imported by their names alone: the second would be taken for the first."""
    names = Counter(f.name for f in (ROOT / "tests").rglob("*.py") if f.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []
