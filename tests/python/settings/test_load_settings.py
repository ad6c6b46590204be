"""moldau.yml: what is accepted, which default holds, and how an error names the mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from moldau.engines.spark.profile import spark_settings
from moldau.errors import MoldauError
from moldau.settings import Settings, load_settings
from moldau.settings.cluster import ClusterSettings

EXAMPLE = """
warehouse: ./lake
clusters:
  east:
    authority: moldau
    ruleset: {groups: kip_1331_v2}
    plugin: {name: directory, path: ./descriptions, api_token: hush}
    offsets.retention.minutes: 60
    topics:
      orders: {remote.storage.enable: "true", retention.ms: "604800000", retention.bytes: -1}
flows:
  east-to-west: {source: east, target: west, ruleset: full_history, topics: ".*", groups: ".*"}
producers:
  default: {ruleset: kip_526_draft, metadata.evict.ms: 200000, retry.backoff.ms: 50}
  p1: {metadata.evict.ms: 5000}
"""


def read(folder: Path, text: str) -> Settings:
    path = folder / "moldau.yml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, None)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MOLDAU_WAREHOUSE", raising=False)
    monkeypatch.delenv("MOLDAU_ENGINE", raising=False)
    monkeypatch.chdir(tmp_path)


def test_without_a_file_every_default_holds() -> None:
    settings = load_settings(None, None)
    east = settings.cluster("east")

    assert settings.warehouse == Path("warehouse")
    assert settings.config is None
    assert (east.authority, east.ruleset.groups, east.ruleset.tiers) == (
        "broker",
        "kip_1331_draft",
        "kip_963_draft",
    )
    assert east.offsets_retention_ms == 604_800_000
    assert east.offsets_retention_check_interval_ms == 600_000
    assert not east.has_plugin
    assert settings.entry("producers", "any").metadata_evict_ms == 300_000


def test_the_option_names_the_engine_before_the_environment_and_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert load_settings(None, None).engine == "auto"
    assert read(tmp_path, "engine: spark").engine == "spark"
    monkeypatch.setenv("MOLDAU_ENGINE", "duckdb")
    assert read(tmp_path, "engine: spark").engine == "duckdb"
    assert load_settings(tmp_path / "moldau.yml", None, engine="auto").engine == "auto"
    monkeypatch.setenv("MOLDAU_ENGINE", "flink")
    with pytest.raises(MoldauError, match="'flink'; allowed is one of auto, spark, duckdb"):
        load_settings(None, None)
    monkeypatch.delenv("MOLDAU_ENGINE")
    with pytest.raises(MoldauError, match=r"engine: 'flink' is .*one of auto, spark, duckdb"):
        read(tmp_path, "engine: flink")


def test_duckdb_is_refused_by_name_where_it_would_read_otherwise(tmp_path: Path) -> None:
    flow = "flows: {f: {source: a, target: b, topics: '(?i)orders'}}"
    assert read(tmp_path, flow).engine == "auto"
    with pytest.raises(MoldauError, match=r"flows\.f has a pattern that only Spark reads"):
        read(tmp_path, f"engine: duckdb\n{flow}")


def test_properties_of_spark_have_its_names(tmp_path: Path) -> None:
    assert read(tmp_path, "spark: ").spark == {}
    told = read(tmp_path, "spark: {spark.master: 'local[4]', spark.executor.cores: 2, spark.x: on}")
    assert told.spark == {
        "spark.master": "local[4]",
        "spark.executor.cores": "2",
        "spark.x": "true",
    }
    assert spark_settings(told.spark)["spark.master"] == "local[4]"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("master", "begin with spark"),
        ("spark.sql.session.timeZone", "rests on its value"),
        ("spark.sql.ansi.enabled", "rests on its value"),
        ("spark.sql.extensions", "rests on its value"),
        ("spark.sql.shuffle.partitions", "by the size of its tables"),
        ("spark.driver.extraClassPath", "spark.jars"),
    ],
)
def test_what_moldau_rests_on_is_no_property_for_the_file(
    tmp_path: Path, name: str, why: str
) -> None:
    with pytest.raises(MoldauError, match=f"spark: .*{name}: .*{why}"):
        read(tmp_path, f"spark: {{{name}: x}}")


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    settings = read(tmp_path, EXAMPLE)
    east = settings.cluster("east")

    assert settings.warehouse == tmp_path / "lake"
    assert east.has_plugin
    assert east.plugin_name == "directory"
    assert east.plugin is not None
    assert east.plugin.options == {"path": "./descriptions", "api_token": "hush"}
    assert east.topics["orders"].remote_storage_enable is True
    assert east.topics["orders"].retention_ms == 604_800_000
    assert settings.sections["flows"]["east-to-west"].target == "west"
    assert settings.entry("producers", "p1").metadata_evict_ms == 5_000
    assert settings.entry("producers", "p1").retry_backoff_ms == 50
    assert settings.entry("producers", "p2").metadata_evict_ms == 200_000


def test_the_effective_settings_are_sorted_and_hide_secrets(tmp_path: Path) -> None:
    effective = read(tmp_path, EXAMPLE).cluster("east").effective()

    assert list(effective) == sorted(effective)
    assert effective["offsets.retention.minutes"] == 60
    assert effective["plugin"] == {
        "name": "directory",
        "path": "./descriptions",
        "api_token": "***",
    }


@pytest.mark.parametrize(
    ("given", "held_ms"),
    [
        ({"log.retention.hours": 2}, 7_200_000),
        ({"log.retention.hours": 2, "log.retention.minutes": 3}, 180_000),
        ({"log.retention.minutes": 3, "log.retention.ms": 5}, 5),
        ({"log.retention.hours": -1}, -1),
    ],
)
def test_the_finest_unit_of_retention_holds(given: dict[str, int], held_ms: int) -> None:
    cluster = ClusterSettings.model_validate(given)
    assert cluster.effective()["log.retention.ms"] == held_ms


def test_the_digest_changes_with_a_setting_and_only_then(tmp_path: Path) -> None:
    first = read(tmp_path, "clusters: {east: {offsets.retention.minutes: 10080}}")
    other = read(tmp_path, "clusters: {east: {offsets.retention.minutes: 10081}}")

    assert first.cluster("east").digest() == first.cluster("not listed").digest()
    assert first.cluster("east").digest() != other.cluster("east").digest()


def test_a_broker_has_a_plugin_iff_its_class_is_not_empty(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        """
        clusters:
          with: {group.streams.topology.description.plugin.class: org.example.Plugin}
          empty: {group.streams.topology.description.plugin.class: ""}
          ours: {plugin: {name: delta}}
        """,
    )

    assert settings.cluster("with").has_plugin
    assert not settings.cluster("empty").has_plugin
    assert not settings.cluster("ours").has_plugin, "authority is broker: moldau calls nothing"


def test_option_then_environment_then_file_then_default_name_the_warehouse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "moldau.yml"
    path.write_text("warehouse: inside")
    assert load_settings(None, None).warehouse == Path("inside")
    assert load_settings(path, None).warehouse == tmp_path / "inside"

    monkeypatch.setenv("MOLDAU_WAREHOUSE", "/from/environment")
    assert load_settings(None, None).warehouse == Path("/from/environment")
    assert load_settings(None, Path("/option")).warehouse == Path("/option")


def test_a_missing_file_is_an_error_only_if_it_was_named(tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match=r"nowhere\.yml does not exist"):
        load_settings(tmp_path / "nowhere.yml", None)


def test_a_section_whose_lines_are_commented_out_is_empty(tmp_path: Path) -> None:
    settings = read(tmp_path, "clusters:\n  east:\n  #  authority: moldau\nflows:\n")
    assert settings.cluster("east").authority == "broker"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "clusters: {east: {offsets.retention.minutes: 0}}",
            "clusters.east.offsets.retention.minutes: 0 is not allowed; "
            "allowed is a whole number of at least 1",
        ),
        (
            "clusters: {east: {offsets.retention.minutes: true}}",
            "clusters.east.offsets.retention.minutes: true is not allowed",
        ),
        (
            "clusters: {east: {offsets.retention.minuts: 5}}",
            "unknown key clusters.east.offsets.retention.minuts (value 5)",
        ),
        (
            "clusters: {east: {offsets.retention.minuts: 5}}",
            "did you mean offsets.retention.minutes?",
        ),
        (
            "clusters: {east: {ruleset: {groups: kafka_44}}}",
            "one of kip_1331_draft, kip_1331_v1, kip_1331_v2, kafka_4_4; did you mean kafka_4_4?",
        ),
        (
            "clusters: {east: {plugin: {name: direktory}}}",
            "one of delta, directory,",
        ),
        ("clusters: {east: {plugin: {path: x}}}", "clusters.east.plugin.name is missing"),
        ("clusters: {east: {authority: me}}", "one of broker, moldau"),
        ("clusters: {'': {}}", "a non-empty name without control characters"),
        ('clusters: {"a\\0b": {}}', "a non-empty name without control characters"),
        ("clusters: {1: {}}", "a name as text (put it in quotes)"),
        ("clusters: [east]", "clusters: ['east'] is not allowed; allowed is a mapping"),
        (
            "clusters: {e: {topics: {o: {retention.ms: 5, local.retention.ms: 6}}}}",
            "o.local.retention.ms: 6 is not allowed; allowed is from -2 to 5 (retention.ms)",
        ),
        ("clusters: {e: {topics: {o: {remote.storage.enable: yeah}}}}", "true or false"),
        ("flows: {f: {source: a, target: b, topics: '['}}", "a regular expression"),
        ("flows: {f: {source: a, target: b, groups: '(?P<x>a)'}}", "(Java has no (?P)"),
        (
            "flows: {f: {source: a, target: b, emit.offset-syncs.enabled: false}}",
            "flows.f.emit.offset-syncs.enabled: false is not allowed; allowed is true: without",
        ),
        ("producers: {default: {metadata.evict.ms: 999}}", "at least 1000"),
        ("cluster: {}", "unknown key cluster (value {}); known here: clusters, engine, flows"),
        ("warehouse: s3://bucket/x", "must be a local folder"),
        ("clusters:\n  east: {}\n  east: {}", "line 3: the key 'east' is given twice"),
        ("clusters:\n  a: b: c", "line 2: mapping values are not allowed here"),
        ("- 1", "a mapping such as 'clusters:' is expected"),
        ("x: !!python/name:os.system ''", "line 1: could not determine a constructor"),
    ],
)
def test_a_mistake_is_named_by_key_value_and_what_is_allowed(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(MoldauError) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)
    assert "moldau.yml" in str(caught.value) or "warehouse" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "pattern",
    [r"\p{Lu}\pL+\h", r"\Qa(b\E.*", r"a\\b", r"\(?P", "(?i)a", "(?!a).*", "a*+", r"a\z"],
)
def test_filters_are_regular_expressions_of_javas(tmp_path: Path, pattern: str) -> None:
    settings = read(tmp_path, f"flows: {{f: {{source: a, target: b, topics: '{pattern}'}}}}")
    assert settings.sections["flows"]["f"].topics == pattern


def test_text_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "moldau.yml"
    path.write_bytes(b"clusters: {\xff: {}}")
    with pytest.raises(MoldauError, match="not UTF-8"):
        load_settings(path, None)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "a\0"])
def test_a_cluster_name_from_an_option_is_checked_too(name: str) -> None:
    with pytest.raises(MoldauError, match="cannot name a cluster"):
        load_settings(None, None).cluster(name)


def test_odd_but_harmless_cluster_names_are_accepted(tmp_path: Path) -> None:
    name = 'it\'s \\ "quoted" 🦀'
    settings = read(tmp_path, "clusters: {'it''s \\ \"quoted\" 🦀': {authority: moldau}}")
    assert settings.cluster(name).authority == "moldau"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution on the path with one plugin that loads and one that does not."""
    (tmp_path / "acme_plugin.py").write_text("class Good: ...\n")
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[moldau.topology_plugins]\nacme = acme_plugin:Good\nbroken = acme_plugin:Bad\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("installed")
def test_an_installed_entry_point_is_a_plugin(tmp_path: Path) -> None:
    settings = read(tmp_path, "clusters: {e: {authority: moldau, plugin: {name: acme}}}")
    assert settings.cluster("e").plugin_name == "acme"


@pytest.mark.usefixtures("installed")
def test_a_plugin_that_cannot_be_loaded_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match=r"acme_plugin:Bad fails with AttributeError"):
        read(tmp_path, "clusters: {e: {plugin: {name: broken}}}")
