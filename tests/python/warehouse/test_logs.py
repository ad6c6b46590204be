"""Logs are no longer than is said, twice."""

from __future__ import annotations

from pathlib import Path

from moldau.cli import failures
from moldau.warehouse import logs
from moldau.warehouse.create import create


def test_a_full_log_makes_room_for_the_next(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    assert logs.begun(log) == log
    log.write_bytes(b"1" * (logs.LOG_BYTES - 1))
    logs.begun(log).open("ab").write(b"2")
    assert [file.name for file in tmp_path.iterdir()] == ["spark.log"]
    with logs.begun(log).open("ab") as file:
        file.write(b"3")
    assert log.read_bytes() == b"3"
    assert (tmp_path / "spark.log.1").stat().st_size == logs.LOG_BYTES


def test_that_of_errors_is_one(tmp_path: Path) -> None:
    create(tmp_path)
    log = tmp_path / "_moldau" / "errors.log"
    log.write_bytes(b"1" * logs.LOG_BYTES)
    failures.works_on(tmp_path)
    try:
        assert failures.tell(RuntimeError("new"), ["cycle"]) == failures.INTERNAL
    finally:
        failures.works_on(None)
    assert "RuntimeError: new" in log.read_text()
    assert (tmp_path / "_moldau" / "errors.log.1").stat().st_size == logs.LOG_BYTES
