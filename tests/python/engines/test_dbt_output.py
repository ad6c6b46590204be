"""dbt in this process leaves stdout to the command, whichever thread it runs in."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from moldau.compiled import dbt as engine


def test_what_is_printed_while_dbt_parses_is_not_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine._manifest = None
    stdout, taken = sys.stdout, 0
    threads = set(threading.enumerate())
    engine.parse_early(tmp_path)
    [parsing] = set(threading.enumerate()) - threads
    while parsing.is_alive():
        taken += sys.stdout is not stdout
        parsing.join(0.001)
    assert taken == 0
    assert engine._manifest is not None
    assert capsys.readouterr().out == ""


def test_what_dbt_refuses_is_in_the_error_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(engine.DbtError, match="no-such-option"):
        engine.dbt("parse", "--no-such-option", warehouse=tmp_path)
    with pytest.raises(engine.DbtError, match="no_such_macro"):
        engine.dbt("run-operation", "no_such_macro", warehouse=tmp_path)
    assert capfd.readouterr().out == ""
