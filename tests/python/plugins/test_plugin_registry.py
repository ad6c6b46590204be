"""Plugins are found by entry point; what moldau.yml says of them is checked at the start."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from moldau.errors import MoldauError
from moldau.plugins import TopologyDescriptionPlugin
from moldau.plugins.registry import PluginSpec, make_plugin, plugin_class, plugin_names
from moldau.settings import Settings, load_settings

MODULE = """
class Acme:
    def __init__(self, tenant, retries=3):
        self.tenant, self.retries = tenant, retries
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


def test_a_constructor_may_take_any_option(tmp_path: Path) -> None:
    assert read(tmp_path, "{name: any, x: 1}").cluster("e").plugin_name == "any"


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        (
            "{name: acme, tennant: t}",
            "plugin.tennant: 't' is not allowed; allowed is an option of plugin acme "
            "(tenant, retries); did you mean tenant?",
        ),
        ("{name: acme, tenant: t, api_key: hush}", "plugin.api_key: '***' is not allowed"),
        ("{name: acme}", "clusters.e.plugin.tenant is missing"),
        ("{name: delta, x: 1}", "plugin.x: 1 is not allowed"),
        ("{name: acmee}", "one of acme, any, delta, directory"),
        ("{name: acmee}", "did you mean acme?"),
        ("{name: acme_plugins.Acme}", "installed entry point of group moldau.topology_plugins"),
        ("{name: leaves}", "acme_leaves:Any fails with SystemExit: bye"),
        ("{name: none}", "a plugin class (acme_plugins:NO_CLASS is none)"),
        (
            "{name: webhook, url: u}",
            "a name of one plugin (this is acme_plugins:Twice and moldau.plugins.webhook:Webhook",
        ),
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
