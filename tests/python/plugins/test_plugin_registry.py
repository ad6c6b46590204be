"""Plugins are found by entry point; what moldau.yml says of them is checked at the start."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from moldau.errors import MoldauError
from moldau.plugins import TopologyDescriptionPlugin
from moldau.plugins.masking import without
from moldau.plugins.registry import (
    PluginSpec,
    UnusablePlugin,
    make_plugin,
    plugin_class,
    plugin_names,
    secrets_of,
)
from moldau.settings import Settings, load_settings

MODULE = """
class Acme:
    public_options = ("tenant",)
    def __init__(self, tenant, retries=3, login=None):
        self.tenant, self.retries, self.login = tenant, retries, login
    def open(self, cluster_id, warehouse, folder):
        self.opened = (cluster_id, warehouse, folder)
class Any:
    def __init__(self, **options): ...
class Twice: ...
NO_CLASS = 5
"""
ENTRY_POINTS = """[moldau.topology_plugins]
acme = acme_plugins:Acme
any = acme_plugins:Any
leaves = acme_leaves:Any
none = acme_plugins:NO_CLASS
webhook = acme_plugins:Twice
hook = moldau.plugins.webhook:WebhookPlugin
[console_scripts]
tool = acme_plugins:Acme
"""


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with plugins, on the path only."""
    (tmp_path / "acme_plugins.py").write_text(MODULE)
    (tmp_path / "acme_leaves.py").write_text("raise SystemExit('bye')")
    info = tmp_path / "acme_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-plugins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("MOLDAU_WAREHOUSE", raising=False)


def read(folder: Path, plugin: str) -> Settings:
    path = folder / "moldau.yml"
    path.write_text(f"clusters: {{e: {{authority: moldau, plugin: {plugin}}}}}")
    return load_settings(path, None)


def test_names_are_those_of_the_entry_points() -> None:
    assert {"acme", "any", "delta", "directory", "webhook"} <= set(plugin_names())
    assert "tool" not in plugin_names()


@pytest.mark.parametrize("name", ["delta", "directory"])
def test_the_built_in_ones_are_entry_points_too(name: str) -> None:
    assert issubclass(plugin_class(name), TopologyDescriptionPlugin)  # type: ignore[arg-type]


def test_a_plugin_is_made_from_a_spec_that_travels_between_processes() -> None:
    spec = PluginSpec("acme", {"tenant": "t"}, "east", "/w", "/f")
    made = make_plugin(pickle.loads(pickle.dumps(spec)))
    assert (made.tenant, made.retries) == ("t", 3)
    assert made.opened == ("east", Path("/w"), Path("/f"))


def test_the_timeout_is_not_an_option(tmp_path: Path) -> None:
    given = read(tmp_path, "{name: acme, tenant: t, timeout_seconds: 2.5}").cluster("e").plugin
    default = read(tmp_path, "{name: acme, tenant: t}").cluster("e").plugin
    assert given is not None and default is not None
    assert (given.timeout_seconds, default.timeout_seconds) == (2.5, 10)
    assert given.options == default.options == {"tenant": "t"}
    assert given.effective() == {"name": "acme", "tenant": "t", "timeout_seconds": 2.5}
    assert default.effective() == {"name": "acme", "tenant": "t"}


def test_a_value_from_the_environment_is_known_to_the_plugin_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stored, hashed and shown names the variable, also within a text and in a list."""
    monkeypatch.setenv("MOLDAU_TOKEN", "hush ${env:HOME}")
    monkeypatch.setenv("MOLDAU_EMPTY", "")
    login = "{tokens: ['a ${env:MOLDAU_TOKEN}${env:MOLDAU_EMPTY}', 5]}"
    cluster = read(tmp_path, f"{{name: acme, tenant: '${{env:MOLDAU_TOKEN}}', login: {login}}}")
    given = cluster.cluster("e").plugin
    assert given is not None
    spec = PluginSpec("acme", given.options, "east", "/w", "/f")
    made = make_plugin(pickle.loads(pickle.dumps(spec)))
    assert made.tenant == "hush ${env:HOME}", "what a variable holds is not read again"
    assert made.login == {"tokens": ["a hush ${env:HOME}", 5]}
    assert given.effective() == {
        "name": "acme",
        "tenant": "${env:MOLDAU_TOKEN}",
        "login": {"tokens": ["***${env:MOLDAU_TOKEN}${env:MOLDAU_EMPTY}", "***"]},
    }
    before = cluster.cluster("e").digest()
    monkeypatch.setenv("MOLDAU_TOKEN", "another")
    assert cluster.cluster("e").digest() == before
    for shown in (repr(cluster), repr(spec), json.dumps(cluster.cluster("e").effective())):
        assert "hush" not in shown


SECRETS = [
    ("directory", "{path: p, passwd: hush}", {"path": "p", "passwd": "***"}),
    (
        "directory",
        "{path: p, client_kwargs: {config: [{sas: hush}, hush], ssl: true, x: {}}}",
        {"path": "p", "client_kwargs": {"config": [{"sas": "***"}, "***"], "ssl": "***", "x": {}}},
    ),
    ("directory", "{path: 's3://a:hush@b/c'}", {"path": "s3://***@b/c"}),
    ("directory", "{path: 'zip://x::https://a:hu/sh#@b/c'}", {"path": "zip://***@b/c"}),
    ("directory", "{path: './at@home?#'}", {"path": "./at@home?#"}),
    ("directory", "{path: 2026-11-23, a: {1: x, b: [{2: 2026-11-23}]}}",
        {"path": "2026-11-23", "a": {"1": "***", "b": [{"2": "***"}]}}),
    ("delta", "{storage_options: {account: hush}}", {"storage_options": {"account": "***"}}),
    ("hook", "{url: 'https://u:hush@h/p?sig=hush&v=hush#hush'}",
        {"url": "https://***@h/p?sig=***&v=***#***"}),
    ("hook", "{url: 'https://h/p?hush'}", {"url": "https://h/p?***"}),
    ("hook", "{url: 'u:hush@h'}", {"url": "***@h"}),
    ("hook", "{url: 'https://h/?s=${env:HOME}', headers: {X: hush}}",
        {"url": "https://h/?s=${env:HOME}", "headers": {"X": "***"}}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "shown"), SECRETS)
def test_only_what_is_known_to_be_no_secret_is_shown(
    tmp_path: Path, name: str, options: str, shown: dict[str, Any]
) -> None:
    given = read(tmp_path, f"{{name: {name}, {options[1:]}").cluster("e").plugin
    assert given is not None
    assert json.loads(json.dumps(given.effective())) == {"name": name, **shown}


def test_nothing_is_shown_of_a_plugin_that_is_not_there(tmp_path: Path) -> None:
    """Its class cannot say what is no secret."""
    (tmp_path / "moldau.yml").write_text("clusters: {e: {plugin: {name: gone, path: hush}}}")
    read_only = load_settings(tmp_path / "moldau.yml", None, checks_plugins=False)
    assert read_only.cluster("e").effective()["plugin"] == {"name": "gone", "path": "***"}


def test_a_plugin_is_not_loaded_for_those_who_only_read(tmp_path: Path) -> None:
    (tmp_path / "moldau.yml").write_text("clusters: {e: {plugin: {name: leaves}}}")
    assert load_settings(tmp_path / "moldau.yml", None, checks_plugins=False)


def test_what_a_plugin_says_is_told_without_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOLDAU_TOKEN", "from the environment")
    options = {
        "url": "https://admin:password@h/p?sig=signature#fragment",
        "headers": {"Authorization": "Bearer t0k3n-of-mine", "X": "${env:MOLDAU_TOKEN}"},
    }
    secrets = secrets_of(PluginSpec("hook", options, "east", "/w", "/f"))
    said = "password t0k3n-of-mine from the environment ?sig=signature https://h/p"
    assert without(secrets, said) == "*** *** *** ?sig=*** https://h/p"
    assert without(secrets, None) is None


def test_a_constructor_may_take_any_option(tmp_path: Path) -> None:
    assert read(tmp_path, "{name: any, x: 1}").cluster("e").plugin_name == "any"


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (
            "{name: acme, tennant: t}",
            "plugin.tennant: '***' is not allowed; allowed is an option of plugin acme "
            "(tenant, retries, login); did you mean tenant?",
        ),
        ("{name: acme, tenant: t, api_key: hush}", "plugin.api_key: '***' is not allowed"),
        ("{name: acme}", "clusters.e.plugin.tenant is missing"),
        ("{name: delta, x: 1}", "plugin.x: '***' is not allowed"),
        ("{name: acmee}", "one of acme, any, delta, directory, hook"),
        ("{name: acmee}", "did you mean acme?"),
        ("{name: acme_plugins.Acme}", "installed entry point of group moldau.topology_plugins"),
        ("{name: leaves}", "acme_leaves:Any fails with SystemExit: bye"),
        ("{name: none}", "a plugin class (acme_plugins:NO_CLASS is none)"),
        (
            "{name: webhook, url: u}",
            "a name of one plugin (this is acme_plugins:Twice and moldau.plugins.webhook:Webhook",
        ),
        (
            "{name: acme, tenant: t, login: {token: 'hush ${env:MOLDAU_UNSET}'}}",
            "clusters.e.plugin.login.token: '***${env:MOLDAU_UNSET}' is not allowed; "
            "allowed is a variable that is set (MOLDAU_UNSET is not)",
        ),
        (
            "{name: acme, tenant: '${env:hush it}'}",
            "plugin.tenant: '***' is not allowed; allowed is ${env:NAME}, where NAME has letters",
        ),
        ("[{name: acme, login: hush}]", "plugin: [{'name': '***', 'login': '***'}] is not allowed"),
        ("hush", "clusters.e.plugin: '***' is not allowed; allowed is a mapping"),
        ("{name: acme, tenant: t}, plugn: {login: hush}", "key clusters.e.plugn (value {'login'"),
        ("{name: acme, tenant: t}, login: hush", "key clusters.e.login (value '***')"),
        ("{name: acme, tenant: t, timeout_seconds: 0}", "0 is not allowed; allowed is a number"),
        ("{name: acme, tenant: t, timeout_seconds: '5'}", "a number of seconds above 0"),
        ("{name: acme, tenant: t, timeout_seconds: true}", "true is not allowed"),
        ("{name: acme, tenant: t, timeout_seconds: .inf}", "inf is not allowed"),
    ],
)
def test_a_mistake_is_named_by_key_value_and_what_is_allowed(
    tmp_path: Path, plugin: str, message: str
) -> None:
    with pytest.raises(MoldauError) as caught:
        read(tmp_path, plugin)
    assert message in str(caught.value)
    assert "hush" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_module_that_ends_its_process_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ends_at_once.py").write_text("import os; os._exit(0)\n")
    info = tmp_path / "ends-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ends\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[moldau.topology_plugins]\nends = ends_at_once:P\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UnusablePlugin, match="ends the process that imports it, with code 0"):
        plugin_class("ends")
