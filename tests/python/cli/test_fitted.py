"""What a person at a terminal is shown of a table, at the widths that terminals have."""

from __future__ import annotations

import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from fcntl import ioctl
from pathlib import Path
from typing import Any

import click
import pytest

from moldau.cli import fitted, moldau, run, verbs
from moldau.cli.fitted import Column, by_weight, fit, names_for_people, readable
from moldau.project import SAMPLES

pytestmark = pytest.mark.processes

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
SQL = "select 1 as b, 2 as a, 3 as b"
T = 1_795_000_000_000
COLUMNS = (
    "run_id", "cluster_id", "group_id", "topic_id", "topic_name", "ruleset", "committed_at_ms",
    "retention_ms", "is_deleted", "members", "reason_text", "decision", "metadata",
)  # fmt: skip
KEY = ("cluster_id", "group_id", "topic_id")
REASON = "The group is empty, and its last commit is older than the retention of offsets."
ROWS = [
    ("1-cycle", "east", f"group-{n}", "ssAI2IwCSzSdH6r8tWG0EA", "orders", "kafka_4_4", T + n,
     60_000, False, n, REASON, "expire", None)
    for n in range(3)
]  # fmt: skip
MOLDAU = ("-c", "from moldau.cli import main; main()")
PROGRAM = """
import sys
from moldau.cli.output import write_rows
columns, rows, more = eval(sys.stdin.readline())
write_rows(columns, rows, **more)
"""


def on_terminal(width: int, *words: str, typed: str = "", **more: str) -> str:
    """What a process writes to a terminal of this width, line ends as a program has them."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.PIPE, stdout=slave, stderr=slave,
        env=env | {"TERM": "xterm", "NO_COLOR": "1"} | more,
    )  # fmt: skip
    os.close(slave)
    assert process.stdin
    process.stdin.write(typed.encode())
    process.stdin.close()
    found = b""
    while select.select([master], [], [], 60)[0]:
        try:
            found += os.read(master, 65536)
        except OSError:  # the other end is closed
            break
    os.close(master)
    assert process.wait(timeout=60) == 0, found.decode()
    return _STYLE.sub("", found.decode().replace("\r\n", "\n"))


def shown(width: int, rows: Sequence[Any] = ROWS, **more: Any) -> list[str]:
    told = {"output_format": "table", "key": KEY, "shape": "fitted"} | more
    typed = repr((COLUMNS, rows, told)) + "\n"
    return on_terminal(width, "-c", PROGRAM, typed=typed).split("\n")


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_a_table_is_as_wide_as_the_terminal_and_says_what_it_leaves_out(width: int) -> None:
    lines = shown(width)
    assert max(map(len, lines)) <= width
    assert ("more column" in " ".join(lines)) == (width < 200)


def test_the_key_and_the_answer_come_first_then_what_differs() -> None:
    lines = shown(80)
    assert lines[3].split()[:4] == ["east", "group-0", "orders", "expire"]
    assert "reason_text" in " ".join(lines[:2]) and "run_id" not in " ".join(lines[:2])
    assert lines[-2] == "7 more columns (1 empty): --all or --vertical shows them"


def test_an_instant_is_utc_and_a_duration_is_what_it_was() -> None:
    whole = "\n".join(shown(80, shape="all"))
    assert "2026-11-18T11:06:40Z" in whole and "2026-11-18T11:06:40.001Z" in whole
    assert str(T) not in whole and "60000" in whole
    assert "more column" not in whole
    for name in ("ruleset", "metadata", "run_id"):
        assert name in whole


def test_vertically_each_value_has_a_line_and_is_whole() -> None:
    lines = shown(80, [ROWS[0]], shape="vertical")
    assert lines[0] == "-- 1 --"
    assert REASON in " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= 80
    assert any(re.match(r" {14}\S", line) for line in lines), "below the value"
    assert "committed_at  2026-11-18T11:06:40Z" in lines


def test_without_rows_and_as_csv_nothing_is_hidden_by_what_is_not_there() -> None:
    assert "empty" not in "\n".join(shown(80, []))
    assert shown(80, output_format="csv")[0] == ",".join(COLUMNS)


def test_what_no_terminal_reads_is_whole_and_in_milliseconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from moldau.cli.output import write_rows

    write_rows(COLUMNS, ROWS, "table", KEY, "fitted")
    told = capsys.readouterr()
    assert told.out.splitlines()[0].split() == list(COLUMNS)
    assert str(T) in told.out and not told.err


def test_a_group_whose_name_is_empty_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    from moldau.cli.output import write_rows

    for name, seen in (("", "''"), ("  ", "'  '"), ("a b", "a b")):
        write_rows(("group_id", "metadata"), [[name, ""]], "table")
        assert capsys.readouterr().out.splitlines()[-1] == seen
        write_rows(("group_id", "metadata"), [[name, ""]], "json")
        assert f'"group_id": "{name}"' in capsys.readouterr().out
    row = ["" if name == "group_id" else it for name, it in zip(COLUMNS, ROWS[0], strict=True)]
    assert "''" in shown(80, [row])[3].split()


def test_what_is_told_twice_is_told_once() -> None:
    assert names_for_people(["at_ms", "at", "valid_from_ms", "age_ms"]) == {
        "at": "at", "valid_from_ms": "valid_from", "age_ms": "age_ms",
    }  # fmt: skip
    assert readable(["topic_id", "run_id"], ["topic_id", "topic_name"]) == ["topic_name", "run_id"]


def test_an_instant_of_every_table_is_known_by_its_name() -> None:
    """No column of milliseconds is taken for an instant because of how its name ends."""
    from moldau.warehouse.contracts import marts, tables

    names = {c.name for table in (tables() | marts()).values() for c in table.columns}
    durations = re.compile(
        r"(age|lag|retention|evict|idle|interval|backoff|gap|pace|copy|high|low|blocked|bucket|seen"
        r"|duration|due_in|threshold|topic)_ms$"
    )
    for name in names:
        if name.endswith("_ms"):
            assert fitted.is_instant(name) != bool(durations.search(name)), name


def test_a_key_that_is_too_wide_is_folded_and_never_left_out() -> None:
    keys = [Column(name, name, ["x" * 50], is_key=True) for name in ("a_id", "b_id")]
    other = Column("c", "c", ["1"])
    widths = fit(by_weight([other, *keys], ["a_id", "b_id"]), 41)
    assert list(widths) == keys and sum(widths.values()) <= 39


def test_names_that_come_twice_are_two_columns() -> None:
    twice = [Column("a", "a", ["1"]), Column("a", "a", ["2"])]
    assert len(fit(twice, 80)) == 2


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """A warehouse with one load of the sample."""
    place = ("--warehouse", str(tmp_path_factory.mktemp("fitted") / "w"))
    sample = str(SAMPLES / "east" / "__consumer_offsets.jsonl")
    on_terminal(80, *MOLDAU, "load", sample, "--cluster", "east", "--kind", "records", *place)
    return place


def test_a_verb_fits_its_table(place: tuple[str, ...]) -> None:
    told = on_terminal(80, *MOLDAU, "show", "seeds.reason_codes", "--limit", "5", *place)
    assert " · " not in told
    lines = told.split("\n")
    assert max(map(len, lines)) <= 80
    assert "more column" in told
    quiet = on_terminal(40, *MOLDAU, "show", "state.runs", "--quiet", *place)
    assert "more column" not in quiet
    asked = on_terminal(20, *MOLDAU, "sql", "--engine", "duckdb", SQL, *place)
    assert asked.split("\n")[0].split() == ["b", "a", "b"], "as they were asked for"


@pytest.mark.parametrize("width", [80, 160])
def test_status_is_one_screen(place: tuple[str, ...], width: int) -> None:
    told = on_terminal(width, *MOLDAU, "status", *place)
    _, attention, *lines = told.partition("Nothing needs attention")
    assert attention, "below where the warehouse lies, whose name may be long"
    lines = "".join(lines).rstrip("\n").split("\n")
    assert len(lines) <= 23 and max(map(len, lines)) <= width
    assert "186 records" in told and "state.groups" not in told and "more column" not in told
    assert re.search(r"^east +broker +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told, re.MULTILINE)
    listed = on_terminal(width, *MOLDAU, "status", "--tables", *place)
    assert "state.groups" in listed and "Nothing needs attention" not in listed


def test_status_says_what_could_not_be_done(place: tuple[str, ...]) -> None:
    folder = Path(place[1])
    bad = folder.parent / "bad.jsonl"
    bad.write_text("{}\n")
    assert run(["load", str(bad), "--cluster", "west", "--kind", "records", *place]) == 2
    told = on_terminal(80, *MOLDAU, "status", *place)
    assert "Refused lines: 1, see _moldau/refused/00000002-load.jsonl" in told
    assert (folder / "_moldau/refused/00000002-load.jsonl").is_file()
    assert "Nothing needs attention" not in told


SLOW = """
import contextlib, io, sys, time
from moldau.cli import progress, say
progress.Progress.__init__.__defaults__ = (0,)
with progress.shown("load"):
    if "--quiet" in sys.argv:
        progress.hide()
    progress.tell("read", 1234)
    with contextlib.redirect_stderr(io.StringIO()) as of_a_line:
        while progress._current._live is None and "--quiet" not in sys.argv:
            time.sleep(0.01)
    assert not of_a_line.getvalue()
    say.say("a line")
    say.hand_over("data")
    assert progress._current._ended.is_set()
"""


def test_a_slow_verb_says_what_it_does_until_it_says_something_else() -> None:
    told = on_terminal(60, "-c", SLOW)
    before, line = told.split("a line")
    assert re.search(r"moldau load · reading files · 1,234 rows · \d+ s", before)
    assert before.endswith("\x1b[2K"), "the line is away"
    assert line.endswith("data") or "reading" not in line.split("data")[1]


def test_quietly_it_says_nothing() -> None:
    assert on_terminal(60, "-c", SLOW, "--quiet") == "a line\ndata"


def test_every_verb_can_be_quiet() -> None:
    def leaves(command: click.Command) -> Iterator[click.Command]:
        if isinstance(command, click.Group):
            for each in command.commands.values():
                yield from leaves(each)
        else:
            yield command

    context = click.Context(moldau)
    commands = [moldau.get_command(context, verb) for verb in verbs()]
    for command in commands:
        assert command
        for leaf in leaves(command):
            assert "--quiet" in {name for it in leaf.params for name in it.opts}, leaf.name
