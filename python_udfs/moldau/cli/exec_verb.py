"""`moldau exec`: a file of verbs in one session."""

from __future__ import annotations

import contextlib
import io
import shlex
import sys
from pathlib import Path

import click

from moldau.cli import run
from moldau.cli.held import Held, wait_option
from moldau.cli.options import pass_settings_of_verbs
from moldau.cli.say import hand_over
from moldau.errors import MoldauError
from moldau.reading.tables.values import to_json
from moldau.settings import Settings

# what has a session of its own, and what goes on until somebody ends it, as --continuous does
_REFUSED = (["exec"], ["demo"], ["watch"], ["serve"])


@click.command(name="exec")
@click.argument(
    "file", type=click.Path(path_type=Path, dir_okay=False, exists=True, allow_dash=True)
)
@wait_option
@pass_settings_of_verbs
def exec_verb(settings: Settings, file: Path, wait: float) -> None:
    """Run FILE, one verb with its options a line (# begins a comment), in one Spark session.

    Each line answers with one JSON object on stdout: line, command, exit_code, output (what the
    verb printed, or why it was refused) and errors (what it wrote to stderr). It stops at
    nothing; the exit code is 2 when a line was not fine. `-` reads the lines from stdin.

    \b
    Example:
      printf 'cycle --dry-run\\nshow marts.cleanup_preview\\n' | moldau exec -
    """
    text = _read(file)
    held = Held(settings, "moldau exec", wait)
    worst = 0
    try:
        for number, line in enumerate(text.split("\n"), 1):  # a name may hold U+2028
            command = line.strip()
            if not command or command.startswith("#"):
                continue
            code, said, errors = _run_line(command, held)
            worst = max(worst, code)
            answer = {"line": number, "command": command, "exit_code": code}
            answer |= {"output": said or errors, "errors": errors}
            hand_over(to_json(answer) + "\n")
    finally:
        held.close()
    if worst:
        click.get_current_context().exit(2)


def _read(file: Path) -> str:
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise MoldauError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise MoldauError(f"{file} is no file of verbs: byte {error.start} is not UTF-8") from None


def _run_line(command: str, held: Held) -> tuple[int, str, str]:
    said, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
        try:
            words = shlex.split(command, comments=True)
        except ValueError as error:
            code = 1
            errors.write(f"moldau: the line cannot be split into words: {error}\n")
        else:
            if words[:1] == ["moldau"]:
                words = words[1:]
            if words[:1] in _REFUSED or "--continuous" in words:
                code = 1
                errors.write(f"moldau: {words[0]} cannot stand in a file of verbs\n")
            else:
                code = run(words, obj=held)
    return code, said.getvalue(), errors.getvalue()
