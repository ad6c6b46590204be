"""What a command says where something cannot be written: what is full, where, and what is lost."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau.cli import run
from moldau.cli.failures import keep_panic, tell, works_on
from moldau.cli.native import panics_go_to
from moldau.errors import MoldauError
from moldau.warehouse.paths import ERRORS

Told = pytest.CaptureFixture[str]
CAPTURE = (
    Path(__file__).parents[2]
    / "fixtures" / "captures" / "cleanup-noplugin" / "__consumer_offsets.jsonl"
)  # fmt: skip


@pytest.fixture(autouse=True)
def warehouse(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "w" / ERRORS).parent.mkdir(parents=True)
    works_on(tmp_path / "w")
    yield tmp_path / "w"
    works_on(None)


def refused(warehouse: Path) -> MoldauError:
    try:
        try:
            raise OSError(errno.ENOSPC, "No space left on device", str(warehouse / "x.csv"))
        except OSError as error:
            raise MoldauError(f"cannot write: {error.strerror}") from None
    except MoldauError as error:
        return error


def test_one_form_whoever_meets_it(warehouse: Path, capsys: Told) -> None:
    delta = (
        "Failed to parse parquet: External: Generic LocalFileSystem error: Unable to copy data to "
        "file: No space left on device (os error 28)"
    )
    duckdb = (
        'IO Error: Async write failed: {"exception_message":"Could not write file '
        f'\\"{warehouse}/x.csv\\": No space left on device","errno":"28"}}'
    )
    for error, place in (
        (OSError(errno.ENOSPC, "x", f"{warehouse}/x.csv"), warehouse / "x.csv"),
        (OSError(errno.ENOSPC, "No space left on device"), None),
        (OSError(delta), None),
        (RuntimeError(f"java.io.IOException: {os.strerror(errno.ENOSPC)}\n\tat x"), None),
        (RuntimeError(duckdb), warehouse / "x.csv"),
        (refused(warehouse), warehouse / "x.csv"),
    ):
        assert tell(error, []) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"moldau: {place or ''}") and said.count("\n") == 1
        assert ": No space left on device: the file system at /" in said
        assert said.endswith("nothing is lost: make room there and give the command again\n")


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (errno.EDQUOT, "the quota on the file system at /"),
        (errno.EFBIG, "no file may be as long there (see `ulimit -f`); nothing is lost: allow it"),
    ],
)
def test_what_may_not_grow_is_told_alike(code: int, what: str, capsys: Told) -> None:
    for error in (OSError(code, os.strerror(code)), RuntimeError(os.strerror(code))):
        assert tell(error, []) == 1
        said = capsys.readouterr().err
        assert os.strerror(code) in said and what in said


def test_words_of_others_are_no_full_disk(capsys: Told) -> None:
    assert tell(MoldauError("there is no group 'No space left on device'"), []) == 1
    assert capsys.readouterr().err == "moldau: there is no group 'No space left on device'\n"


def test_the_target_of_an_export_is_looked_at(
    tmp_path: Path, capsys: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = {tmp_path / "x.csv": 0}
    monkeypatch.setattr("moldau.cli.full_disk._room", lambda path: rooms.get(path, 1))
    for words in (["export", "t", "--to", f"{tmp_path}/x.csv"], [f"--to={tmp_path}/x.csv"]):
        tell(OSError(errno.ENOSPC, "x"), words)
        assert capsys.readouterr().err.startswith(f"moldau: {tmp_path}/x.csv: ")


@pytest.fixture
def at_most_2000_bytes() -> Iterator[None]:
    """No file of this process may be longer."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_verbs_that_write_say_it(tmp_path: Path, at_most_2000_bytes: None, capfd: Told) -> None:
    """And once they may write they go on as if nothing had been."""
    where = ["--warehouse", str(tmp_path / "new")]
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    assert run(["init", *where]) == 0
    load = ["load", str(CAPTURE), "--cluster", "c", "--kind", "records", *where]
    exports = [["export", "seeds.reason_codes", "--to", f"{tmp_path}/x.{it}", *where]
               for it in ("csv", "jsonl", "parquet")]  # fmt: skip
    for words in (load, ["publish", "table_status", *where], *exports):
        capfd.readouterr()
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, resource.RLIM_INFINITY))
        with panics_go_to(keep_panic):
            code = run(words)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        said = capfd.readouterr().err
        assert (code, said.count("\n")) == (1, 1), said
        assert ": File too large: " in said and "nothing is lost" in said, said
        assert run(words) == 0, capfd.readouterr().err
    assert not list(tmp_path.glob(".*.unfinished"))


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(folder)],
        capture_output=True, check=False,
    ) if os.geteuid() == 0 else None  # fmt: skip
    if mounted is None or mounted.returncode:
        pytest.skip("this user may mount nothing")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_file_system_that_is_full_is_named(small: Path, capsys: Told) -> None:
    assert run(["init", "--warehouse", str(small / "w")]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"moldau: {small}/w") and said.count("\n") == 1
    assert f"No space left on device: the file system at {small} is full; nothing is lost" in said
    subprocess.run(["mount", "-o", "remount,size=8m", str(small)], check=True)
    assert run(["init", "--warehouse", str(small / "w")]) == 0


def test_standard_output_is_named_though_python_does_not_buffer(small: Path) -> None:
    """A write of which a full disk took the beginning is no success."""
    program = "from moldau.cli import main; main()"
    lines = small.with_name("many.jsonl")
    lines.write_text(CAPTURE.read_text() * 20)
    with (small / "out").open("w") as out:
        told = subprocess.run(
            [sys.executable, "-c", program, "decode", str(lines)],
            stdout=out, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
    assert (told.returncode, told.stderr) == (
        1,
        f"moldau: standard output: No space left on device: the file system at {small} is full; "
        "what is there is cut short, and nothing else is lost: make room there and give the "
        "command again\n",
    )


PANIC = (
    "\nthread 'tokio-rt-worker' (4711) panicked at /home/x/buffered.rs:369:41:\nAlready shut down\n"
    "stack backtrace:\n   0: x\n"
    "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n"
)


def printed(*said: str) -> None:
    for text in said:
        os.write(2, text.encode())


def test_a_panic_of_a_library_is_kept_in_the_log(warehouse: Path, capfd: Told) -> None:
    with panics_go_to(keep_panic):
        printed("before\n", PANIC[:30], PANIC[30:], "\nafter\n", PANIC, "without an end")
        print("of Python", file=sys.stderr)
    said = capfd.readouterr().err
    assert {"before", "after", "without an end", "of Python"} <= set(said.splitlines())
    assert "panicked" not in said and "note" not in said
    kept = (warehouse / ERRORS).read_text()
    assert kept.count("panicked at") == 2 and "before" not in kept
    assert kept.endswith("to display a backtrace\n\n")


def test_a_panic_is_on_stderr_where_there_is_no_warehouse(capfd: Told) -> None:
    works_on(None)
    with panics_go_to(keep_panic):
        printed(PANIC)
    assert capfd.readouterr().err == PANIC.removeprefix("\n")


def test_a_panic_for_a_full_disk_is_told_by_the_line_alone(
    capfd: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "x")

    monkeypatch.setattr("moldau.cli.failures._append", full)
    with panics_go_to(keep_panic):
        printed(PANIC)
    assert capfd.readouterr().err == ""
