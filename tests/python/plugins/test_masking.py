"""Nothing that a plugin says tells a secret of its options, whatever it is disguised as."""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

import moldau
from moldau.errors import MoldauError
from moldau.plugins.calls import Call, get_topology, list_topologies, make_calls
from moldau.plugins.masking import secrets_in, without
from moldau.plugins.registry import PluginSpec, secrets_of
from moldau.plugins.slices import call_all
from moldau.plugins.worker import Worker

SECRETS = {
    "words": 's3cr3t "of" mine/ours',
    "letters": "pä\\ss+wörd%41&<é>",
    "token": "eyJhbGciOi.t0k3n-of_mine==",
    "astral": "key-\U0001f511-key",
}


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "quoted": lambda it: quote(it, safe=""),
    "quoted as a path": quote,
    "quoted in lower case": lambda it: "".join(f"%{byte:02x}" for byte in it.encode()),
    "quoted twice": lambda it: quote(quote(it, safe=""), safe=""),
    "of a form": quote_plus,
    "JSON": lambda it: json.dumps({"a": it}),
    "JSON in Unicode": lambda it: json.dumps([it], ensure_ascii=False),
    "JSON with escaped slashes": lambda it: json.dumps(it).replace("/", "\\/"),
    "JSON in JSON": lambda it: json.dumps(json.dumps([it])),
    "JSON in capital digits": lambda it: "".join(f"\\u{ord(letter):04X}" for letter in it)
    if all(ord(letter) < 65_536 for letter in it)
    else json.dumps(it),
    "HTML": html.escape,
    "Python's words": lambda it: repr({"a": it}),
    "Python's bytes": lambda it: repr(it.encode()),
    "base64": b64,
    "base64 behind one letter": lambda it: b64("u" + it),
    "base64 behind two letters": lambda it: b64("u:" + it),
    "base64 before others": lambda it: b64(f"user:{it}:more"),
    "base64 of URLs": lambda it: base64.urlsafe_b64encode(f"..{it}?".encode()).decode(),
    "base64 without padding": lambda it: b64("u:" + it).rstrip("="),
    "base64 in lines": lambda it: base64.encodebytes(("." * 50 + it + "." * 50).encode()).decode(),
    "base64 in a query": lambda it: quote(b64(it), safe=""),
    "base64 in JSON in base64": lambda it: b64(json.dumps({"Authorization": f"Basic {b64(it)}"})),
    "JSON in base64": lambda it: b64(json.dumps({"a": it})),
    "hex": lambda it: it.encode().hex(),
    "read as Latin-1": lambda it: it.encode().decode("latin-1"),
}  # fmt: skip


def is_told(secret: str, said: str) -> bool:
    """Whether six letters of it in a row can be read from what was said, by any of the forms."""
    parts = [secret[at : at + 6] for at in range(len(secret) - 5)]
    return any(form(part).strip("\"{}[]' =\n") in said for part in parts for form in FORMS.values())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_in_every_form(name: str, form: str) -> None:
    secret = SECRETS[name]
    said = f"HTTP 401 for X: {FORMS[form](secret)} (east/orders)"
    told = without(secrets_in({"headers": {"X": secret}}, ()), said)
    assert told is not None
    assert told.startswith("HTTP 401 for X: ") and told.endswith(" (east/orders)")
    assert "***" in told
    assert not is_told(secret, told), told


def test_a_part_of_base64_is_all_that_goes() -> None:
    before, after = "the beginning of it, " * 3, ", and its end" * 3
    said = b64(f"{before}hunter2hunter2{after}")
    told = without(["hunter2hunter2"], said)
    assert told is not None
    assert told.startswith(said[:80]) and told.endswith(said[-48:])


@pytest.mark.parametrize(
    ("options", "said", "told"),
    [
        ({"h": "Bearer t0k3n-of-mine"}, "Bearer t0k3n-of-mine; t0k3n-of-mine", "***; ***"),
        ({"h": "Basic dXNlcjpodW50ZXIy"}, "user, hunter2: no", "***, ***: no"),
        ({"h": "AccountName=acme;AccountKey=a2V5=="}, "key a2V5== is old", "key *** is old"),
        ({"h": 4_711_4711}, "47114711", "***"),
        ({"h": ["one-of-two", {"x": "two-of-two"}]}, "one-of-two two-of-two", "*** ***"),
        ({"h": "hush"}, "hush! hushed (hush)", "***! hushed (***)"),
        ({"h": True, "i": "true", "j": "a"}, "true: a plan", "true: a plan"),
        ({"url": "https://u:p%40ss%2Fword@h/x"}, "p@ss/word p%40ss%2fword", "*** ***"),
        ({"url": "https://u:p%40ss%2Fword@h/x"}, f"Basic {b64('u:p@ss/word')}", "Basic ***"),
        ({"url": "https://u:p@h/x"}, f"to https://u:p@h/x: Basic {b64('u:p')}",
            "to https://***h/x: Basic ***"),
        ({"url": "https://h/x?sig=a%2Bb%2Fc%3D%3D"}, "/x?sig=a+b/c==, sig A+B",
            "/x?sig=***, sig A+B"),
        ({"url": "https://h/x?key=a b|c"}, "GET /x?key=a%20b%7Cc, a+b%7cc", "GET /x?key=***, ***"),
        ({}, f"Authorization: Basic {b64('from:netrc')}", "Authorization: Basic ***"),
        ({}, "Basic authentication is required", "Basic authentication is required"),
    ],
)  # fmt: skip
def test_what_is_secret_of_an_option(options: dict[str, Any], said: str, told: str) -> None:
    assert without(secrets_in(options, ["url"]), said) == told


def test_secrets_that_overlap_leave_nothing_between_them() -> None:
    assert without(["abcdefgh", "efghijkl", "aaaaaa"], "abcdefghijkl aaaaaaaaa") == "*** ***"


def test_a_text_that_was_cut_in_the_middle_of_a_secret_ends_before_it() -> None:
    secret = "hunter2-hunter2-hunter2"
    long = "x " * 1_000
    for said in (long + secret[:15], long + quote("ö" + secret)[:20], long + b64(secret[:15])):
        assert without([secret, "ö" + secret], said) == long + "***"
    assert without([secret], "hunter2-hun") == "hunter2-hun", "too short to have been cut"


def test_a_message_is_cut_when_its_secrets_are_out() -> None:
    """The 4,000th letter may be in the middle of one."""

    class Plugin:
        def delete_topology(self, group_id: str) -> None:
            raise RuntimeError("x" * 3_995 + "hunter2-hunter2")

    calls = [Call("1", "c", "g", "delete", 1)]
    (outcome,) = make_calls(Plugin(), calls, 5, secrets=lambda: ["hunter2-hunter2"])
    assert outcome.message == "x" * 3_995 + "***"


SAID = "Authorization: Bearer hunter2-token"


class Talking:
    """Says what it was given, wherever it can."""

    def __init__(self, where: str) -> None:
        self._where = where
        if where == "constructor":
            raise ValueError(SAID)

    def set_topology(self, *_: Any) -> None:
        raise ValueError(SAID)

    def get_topology(self, group_id: str, topology_epoch: int) -> Any:
        if self._where == "answer":
            return {"subtopologies": [{"subtopologyId": SAID, "nodes": [{"name": b64(SAID)}]}]}
        raise ValueError(SAID)

    delete_topology = set_topology

    def list_topologies(self) -> Any:
        if self._where == "odd":
            return [(b"hunter2-token", 1)]
        raise ValueError(SAID)


def secrets() -> list[str]:
    return secrets_in({"headers": {"Authorization": "Bearer hunter2-token"}}, ())


@pytest.mark.parametrize("where", ["constructor", "calls"])
@pytest.mark.parametrize("operation", ["set", "delete", "get"])
def test_every_outcome_is_told_without_secrets(where: str, operation: Any) -> None:
    call = Call("1", "c", "g", operation, 1)
    factory = lambda: Talking(where)  # noqa: E731
    found = list(make_calls(factory, [call], 5, secrets=secrets))
    found.append(get_topology(factory, call, 5, lambda it: it, secrets)[0])
    for outcome in found:
        assert outcome.message is not None
        assert outcome.message.endswith("Authorization: ***")


@pytest.mark.parametrize("where", ["constructor", "calls", "odd"])
def test_a_refusal_to_list_is_told_without_secrets(where: str) -> None:
    with pytest.raises(MoldauError) as caught:
        list_topologies(lambda: Talking(where), 5, secrets)
    assert "***" in str(caught.value) and "hunter2" not in str(caught.value)


def test_an_answer_is_told_without_secrets() -> None:
    call = Call("1", "c", "g", "get", 1)
    outcome, answer = get_topology(lambda: Talking("answer"), call, 5, lambda it: it, secrets)
    assert (outcome.outcome, outcome.message) == ("success", None)
    [part] = answer["subtopologies"]
    assert part["subtopologyId"] == "Authorization: ***"
    assert "***" in part["nodes"][0]["name"]


def test_whoever_asks_a_plugin_names_its_secrets() -> None:
    """No path may tell what a plugin says as it is."""
    asks = ("make_calls", "get_topology", "list_topologies")
    found = []
    for file in Path(moldau.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in asks:
                found.append([word.arg for word in node.keywords])
    assert len(found) >= 4
    assert all("secrets" in words for words in found), found


MODULE = """
import os, sys
class Printing:
    def __init__(self, **options):
        self.options = options
    def open(self, *_):
        print("made with", self.options)
    def delete_topology(self, group_id):
        print("deletes", group_id, "as", self.options["login"], flush=True)
        os.write(2, f"as {self.options['token']}\\n".encode())
        print("half a line", self.options["token"], end="", flush=True)
        if group_id == "ends":
            os._exit(3)
        raise RuntimeError(f"no {self.options}")
"""


@pytest.fixture
def printing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PluginSpec:
    (tmp_path / "printing_plugin.py").write_text(MODULE)
    info = tmp_path / "printing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: printing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[moldau.topology_plugins]\nprinting = printing_plugin:Printing\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "printing_plugin", raising=False)
    monkeypatch.setenv("PRINTING_TOKEN", "from-the-environment")
    options = {"login": "hunter2-hunter2", "token": "${env:PRINTING_TOKEN}"}
    return PluginSpec("printing", options, "c", str(tmp_path), str(tmp_path))


def row(group: str) -> dict[str, Any]:
    common = {"run_id": "r", "cluster_id": "c", "operation": "delete", "topology_epoch": 1}
    return {"call_id": group, "group_id": group, **common}


def test_what_a_plugin_prints_is_logged_without_secrets(
    printing: PluginSpec, tmp_path: Path
) -> None:
    from moldau.plugins.worker import WorkerEndedError

    journal, log = tmp_path / "journal", tmp_path / "plugins.log"
    journal.mkdir()
    with contextlib.closing(Worker({"c": printing}, journal, (), log)) as worker:
        [told] = worker.call([row("g")])
        assert told[7] == "no {'login': '***', 'token': '***'}"
        with pytest.raises(WorkerEndedError):
            worker.call([row("ends")])
    lines = log.read_text().splitlines()
    assert sorted(lines)[-1] == "made with {'login': '***', 'token': '***'}"
    assert {"deletes g as ***", "half a line ***deletes ends as ***", "as ***"} <= set(lines)
    assert log.read_text().endswith("half a line ***")
    for file in (log, *journal.iterdir()):
        assert not any(it in file.read_text() for it in ("hunter2", "from-the"))


def test_the_words_of_a_plugin_that_cannot_be_loaded_are_without_secrets(
    tmp_path: Path, printing: PluginSpec
) -> None:
    from moldau.settings import load_settings

    said = "import os; raise RuntimeError('no ' + os.environ['PRINTING_TOKEN'])"
    (tmp_path / "printing_plugin.py").write_text(said)
    plugin = "{name: printing, login: x, token: '${env:PRINTING_TOKEN}'}"
    (tmp_path / "moldau.yml").write_text(f"clusters: {{c: {{plugin: {plugin}}}}}")
    with pytest.raises(MoldauError, match=r"fails with RuntimeError: no \*\*\*"):
        load_settings(tmp_path / "moldau.yml", None)


def test_a_secret_is_known_though_another_variable_is_not_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IS_SET", "from-the-environment")
    options = {"url": "http://h/${env:IS_SET}/${env:IS_NOT_SET}"}
    found = secrets_of(PluginSpec("webhook", options, "c", "/w", "/f"))
    assert "from-the-environment" in found


def test_cycles_record_no_secret_of_a_webhook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that answers with the request that it was sent."""
    from requests import PreparedRequest, Response, Session
    from urllib3 import HTTPResponse

    def echo(self: Session, request: PreparedRequest, **_: Any) -> Response:
        import io

        response = Response()
        response.status_code = 400
        body = json.dumps({"url": request.url, **request.headers}).encode()
        response.raw = HTTPResponse(io.BytesIO(body), preload_content=False)
        return response

    monkeypatch.setattr(Session, "send", echo)
    monkeypatch.setenv("HOOK_TOKEN", "from-the-environment")
    options = {
        "url": "https://admin:hunter2%2Fhunter2@h/p/${env:HOOK_TOKEN}?sig=sig%2Bnature",
        "headers": {"X": "header-of-mine", "Y": "Bearer ${env:HOOK_TOKEN}"},
    }
    spec = PluginSpec("webhook", options, "c", str(tmp_path), str(tmp_path))
    [told] = call_all([SimpleNamespace(**row("g"))], {"c": spec}, tmp_path)
    message = json.loads(told[7])
    assert message["url"] == "https://***@h/p/***/c/g?sig=***"
    assert (message["Authorization"], message["X"], message["Y"]) == ("Basic ***", "***", "***")


def test_what_is_printed_in_a_process_of_sparks_goes_to_its_log_without_secrets() -> None:
    """Which is its standard error; several sets of plugins may come one after the other."""
    program = """
import os
from moldau.plugins.printed import _printed_here, print_without
print_without({"hunter2-hunter2"})
print_without({"another-secret"})
print("hunter2-hunter2", "another-secret", flush=True)
os.write(2, b"\\x1b[31mas hunter2-hunter2\\n")
_printed_here[0].settle(10)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (0, ""), told.stderr
    assert sorted(told.stderr.splitlines()) == ["*** ***", "\\x1b[31mas ***"]
