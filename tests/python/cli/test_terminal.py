"""A terminal obeys what stands in a text: no verb prints what somebody else wrote as it is."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import logging
import os
import unicodedata
import warnings
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from encode import encode_key, encode_value
from log_support import FAMILY, Log

import moldau
from moldau.cli import run, say
from moldau.cli.failures import tell
from moldau.cli.output import write_rows
from moldau.errors import MoldauError
from moldau.escapes import visible
from moldau.plugins.directory import DirectoryPlugin
from moldau.reading.explain.reset_plan import ResetPlan
from moldau.reading.tables.values import to_json

# colours, a clear screen in C1, DEL, a title, text from right to left, line and paragraph ends
ODD = "\x1b[31m\x9b2J\x7f\x1b]0;t\x07\u202e\u2028\u2029\u2066\r\b\tz"
GROUP, TOPIC, MEMBER, REQUEST = (f"{name}{ODD}" for name in ("group", "topic", "member", "r"))
STREAMS = f"streams{ODD}"
T = 1_795_000_000_000
SHOWN = ("marts.decisions", "marts.groups", "marts.cleanup_preview", "marts.offset_translations")
AT = "2026-12-20T00:00:00Z"


def is_harmless(text: str) -> bool:
    """Nothing but letters, and line ends of one kind."""
    kinds = {unicodedata.category(letter) for letter in text.replace("\n", "")}
    return not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}


def typed(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(list(words))
    return code, out.getvalue(), err.getvalue()


def lines(file: Path, *rows: Any) -> str:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def records(log: Log, topic: str = "__consumer_offsets") -> list[dict[str, Any]]:
    return [
        {
            "topic": topic, "partition": 0, "offset": it.offset, "timestamp_ms": it.timestamp_ms,
            "key_base64": it.key and b64encode(it.key).decode(),
            "value_base64": it.value and b64encode(it.value).decode(), "headers": [],
        }
        for it in log.records
    ]  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[int, str, str]]]:
    """What every verb says of a warehouse in which all names are odd."""
    folder = tmp_path_factory.mktemp("odd")
    config, warehouse = folder / "moldau.yml", folder / "w"
    plugin = {"name": "directory", "path": str(folder / "held")}
    settings = {
        "clusters": {"east": {"authority": "moldau", "plugin": plugin}, "west": {}},
        "flows": {"flow": {"source": "east", "target": "west"}},
    }
    config.write_text(json.dumps(settings))
    held = DirectoryPlugin(str(folder / "held"))
    held.open("east", warehouse, folder)
    node = {"name": f"n{ODD}", "nodeType": 1, "sourceTopics": [TOPIC], "successors": [MEMBER]}
    held.set_topology(STREAMS, 2, {"subtopologies": [{"subtopologyId": ODD, "nodes": [node] * 2}]})
    held.set_topology(f"bad{ODD}", 2, {"subtopologies": [{"nodes": [{"nodeType": ODD}]}]})
    held.set_topology(f"gone{ODD}", 2, {})
    log = Log()
    log.classic(GROUP)
    log.commit(GROUP, TOPIC, at_ms=T)
    for name in (STREAMS, f"bad{ODD}", f"not held{ODD}"):
        log.streams(name, stored=2)
        key = encode_key(FAMILY, 23, {"groupId": name})
        log.add(key, encode_value(FAMILY, 23, 0, {"epoch": 2}))
    living = f"living{ODD}"
    log.add(log.group_key(living, 3), encode_value(FAMILY, 3, 0, {"epoch": 1}))
    log.member(living, MEMBER)
    heartbeat = {
        "request_id": REQUEST, "group_id": STREAMS, "member_id": MEMBER, "request_version": 1,
        "member_epoch": 1, "response_error": "NONE", "status_codes": None, "received_at_ms": T,
    }  # fmt: skip
    push = {
        "request_id": f"p{ODD}", "group_id": STREAMS, "member_id": MEMBER, "topology_epoch": 2,
        "topology_description": {"subtopologies": [ODD]}, "received_at_ms": T,
    }  # fmt: skip
    state = {
        "topic_id": "jX_L2XneS96rRkMxPC6vPQ", "topic": TOPIC, "partition": 0, "broker_id": 1,
        "is_leader": True, "leader_epoch": 0, "log_start_offset": 0, "local_log_start_offset": 0,
        "last_stable_offset": 3, "high_watermark": 3, "log_end_offset": 3, "taken_at_ms": T,
    }  # fmt: skip
    configs = {
        "topic_id": "jX_L2XneS96rRkMxPC6vPQ", "topic": TOPIC, "valid_from_ms": 0,
        "configs": {"remote.storage.enable": True, "retention.ms": -1},
    }  # fmt: skip
    written = records(log)
    foreign = records(log, TOPIC)
    of = {
        "records": lines(folder / f"records{ODD}.jsonl", *written, *foreign),
        "again": lines(folder / "again.jsonl", written[0] | {"value_base64": "AAA="},
            foreign[0] | {"value_base64": "AAA="}, {"topic": ODD}, ODD),
        "heartbeats": lines(folder / "h.jsonl", heartbeat),
        "other heartbeats": lines(folder / "o.jsonl", heartbeat | {"member_id": "other"}, [ODD]),
        "pushes": lines(folder / "p.jsonl", push),
        "states": lines(folder / "s.jsonl", state, state | {"topic": 1, ODD: 1}),
        "configs": lines(folder / "c.jsonl", configs, configs | {"configs": {ODD: ODD}}),
    }  # fmt: skip
    verbs: list[list[str]] = [
        ["init"],
        ["load", of["records"], "--cluster", "east", "--kind", "records"],
        ["load", of["again"], "--cluster", "east", "--kind", "records"],
        ["load", of["heartbeats"], "--cluster", "east", "--kind", "heartbeats"],
        ["load", of["other heartbeats"], "--cluster", "east", "--kind", "heartbeats"],
        ["load", of["pushes"], "--cluster", "east", "--kind", "topology_pushes"],
        ["load", of["states"], "--cluster", "east", "--kind", "partition_states"],
        ["load", of["configs"], "--cluster", "east", "--kind", "topic_configs"],
        ["load", of["records"], "--cluster", ODD, "--kind", "records"],
        ["load", f"no{ODD}", "--cluster", "east", "--kind", "records"],
        ["decode", of["again"]],
        ["decode", f"no{ODD}"],
        ["requests", "--at", AT],
        *(["topology", "describe", "--group", STREAMS, "--format", form]
          for form in ("text", "json", "mermaid", "dot")),
        ["topology", "describe", "--group", f"bad{ODD}"],
        ["topology", "describe", "--group", f"not held{ODD}"],
        ["topology", "describe", "--group", ODD],
        ["topology", "left-overs"],
        ["cycle", "--at", AT, "--cluster", ODD],
        ["sweep", "--at", ODD],
        ["run", "--at", AT],
        ["compare", "--ruleset", ODD, "--ruleset", "kafka_4_4"],
        ["what-if", "tiers", "--topic", TOPIC, "--set", f"{ODD}=1"],
        ["explain", GROUP],
        ["explain", "offset", GROUP, f"{TOPIC}-0"],
        ["explain", living],
        ["explain", "heartbeat", REQUEST],
        ["explain", "push", f"p{ODD}"],
        ["explain", "tier", f"{TOPIC}-0"],
        ["explain", "translation", GROUP, f"{TOPIC}-0"],
        ["explain", ODD],
        *(["show", name] for name in (*SHOWN, "raw.records", "history.plugin_calls")),
        ["show", ODD],
        ["show", "state.groups", "--where", ODD],
        ["sql", "--engine", "duckdb", f"""select group_id as "{ODD}" from marts.groups"""],
        ["sql", "--engine", "duckdb", f"select * from {ODD}"],
        ["export", "state.groups", "--to", str(folder / f"{ODD}.csv")],
        ["export", "state.groups", "--to", str(folder / f"no{ODD}" / "x.csv")],
        ["publish", "groups"],
        ["publish", ODD],
        ["reset-plan", "flow", "--to", str(folder / f"plan{ODD}.csv")],
        ["reset-plan", ODD],
        ["status"],
        ["doctor"],
        ["watch", "--cluster", ODD],
        ["exec", f"no{ODD}"],
        [ODD],
        ["show", f"--{ODD}"],
        ["load", "--drop", ODD],
    ]  # fmt: skip
    found = {}
    own = ["--config", str(config), "--warehouse", str(warehouse)]
    for words in verbs:
        options = [] if words[0] in ("decode", ODD) else own
        found[visible(" ".join(words))] = typed(*words, *options)
    config.write_text(json.dumps({"clusters": {"east": {ODD: ODD, "authority": ODD}}}))
    found["settings"] = typed("status", *own)
    config.write_text(f"clusters: {{east: {{}}\n{ODD}")
    found["no settings"] = typed("status", *own)
    yield found


def test_no_verb_prints_what_a_terminal_obeys(told: dict[str, tuple[int, str, str]]) -> None:
    raw = {words for words, (_, *texts) in told.items() if not is_harmless("".join(texts))}
    assert not raw, {words: told[words] for words in raw}


def test_nothing_that_was_tried_is_an_error_of_moldaus_own(
    told: dict[str, tuple[int, str, str]],
) -> None:
    assert not {words: it for words, it in told.items() if it[0] == 3 or it[0] > 4}


def test_what_was_odd_is_shown_as_escapes(told: dict[str, tuple[int, str, str]]) -> None:
    """So the tests above saw something: in data, refusals, reasons and notes."""
    said = {words: "".join(texts) for words, (_, *texts) in told.items()}
    seen = [words for words, text in said.items() if "\\x1b[31m\\x9b2J\\x7f" in text]
    for words in ("show marts.groups", "topology left-overs", "decode", "load --drop", "settings"):
        assert any(it.startswith(words) for it in seen), words
    conflicts = "".join(said.values())
    assert f"request {visible(REQUEST)} is there already with other content" in conflicts
    assert f"offset 0 of {visible(TOPIC)}-0 is there already with other bytes" in conflicts
    [(code, _, reason)] = [
        it for words, it in told.items() if words.startswith("topology describe --group bad")
    ]
    assert code == 1 and f"because: Unknown topology node type: {visible(ODD)}" in reason


def test_an_error_and_its_traceback_are_lines_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for error in (MoldauError(ODD), OSError(2, ODD, ODD), RuntimeError(ODD), KeyError(ODD)):
        tell(error, [ODD])
        assert is_harmless(capsys.readouterr().err)


def test_what_libraries_say_is_said_by_the_same_function(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    say.say_what_libraries_say()
    alone = logging.Logger("alone")
    alone.warning(ODD)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = say._say_warning
        warnings.warn(ODD, stacklevel=1)
    said = capsys.readouterr().err
    assert said.count("\\x1b[31m") == 2 and is_harmless(said)


def test_json_is_the_same_data_and_csv_is_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    tag = "\U000e0041"  # a letter beyond 65,535 that does not print
    write_rows([ODD], [[ODD + tag]], "json")
    said = capsys.readouterr().out
    assert json.loads(said) == [{ODD: ODD + tag}] and is_harmless(said)
    write_rows([ODD], [[ODD + tag]], "csv")
    assert ODD + tag in capsys.readouterr().out
    assert json.loads(to_json({"a": [ODD]}, indent=2)) == {"a": [ODD]}


def test_a_plan_is_handed_over_as_it_is_but_to_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Kafka's tool reads it; whoever looks at it does not obey it."""
    plan = ResetPlan(f"{GROUP},t,0,5\n", 1, (GROUP,), (), ())
    monkeypatch.setattr("moldau.reading.explain.reset_plan.reset_plan", lambda *_: plan)
    words = ("reset-plan", "flow", "--warehouse", "/nowhere")
    assert typed(*words) == (0, plan.text, "offsets: 1, groups: 1\n")
    monkeypatch.setattr(say, "is_terminal", lambda: True)
    assert typed(*words)[1] == f"{visible(GROUP)},t,0,5\n"


# the last two print the path of a folder, for `make setup` and packages.yml
PRINTING = (
    os.path.join("cli", "say.py"),
    os.path.join("engines", "spark", "jars.py"),
    "project.py",
)


def test_nobody_else_prints() -> None:
    """Else a text would reach the terminal that `say` has not seen."""
    folder = Path(moldau.__file__).parent
    found = []
    for file in folder.rglob("*.py"):
        name = str(file.relative_to(folder))
        for node in ast.walk(ast.parse(file.read_text())):
            if name not in PRINTING and _prints(node):
                found.append(f"{name}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)}")
    assert not found


def _prints(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.module == "rich.console"
    if not isinstance(node, ast.Call):
        return False
    called = ast.unparse(node.func)
    return called in ("print", "pprint", "warnings.warn", "traceback.print_exc") or (
        called.startswith(("click.echo", "click.secho", "click.style", "click.progressbar"))
        or called.startswith(("sys.stdout.write", "sys.stderr.write"))
        or (called != "getattr" and any(map(_is_stream, node.args)))
    )


def _is_stream(node: ast.AST) -> bool:
    return ast.unparse(node) in ("sys.stdout", "sys.stderr")
