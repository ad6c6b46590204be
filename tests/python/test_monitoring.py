"""docs/monitoring: rules that Prometheus proves, and queries that `/metrics` can answer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from samples_support import GROUPS_MS

from moldau.metrics.exposition import exposition
from moldau.metrics.families import READINGS
from moldau.project import ROOT

MONITORING = ROOT / "docs" / "monitoring"
BIN = Path(sys.prefix) / "bin"
# words of PromQL that stand where a name of a metric could
_PROMQL = {"and", "or", "unless", "on", "by", "bool", "sum", "min", "max", "count"}
_ADDED = {"instance", "job", "__name__"}  # by Prometheus itself


@pytest.fixture(scope="session")
def promtool(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Prometheus's own tool, from Debian's package: unpacked once, into this environment."""
    found = shutil.which("promtool", path=f"{os.environ['PATH']}:{BIN}")
    if found is None:
        wanted = "promtool is missing: install it (Debian: apt-get install prometheus)"
        if not shutil.which("apt-get") or os.geteuid() != 0:
            pytest.fail(wanted)
        folder = tmp_path_factory.mktemp("prometheus")
        # no more than the tool: the package starts a service
        taken = subprocess.run(
            "(apt-get download prometheus || (apt-get update && apt-get download prometheus)) && "
            "dpkg-deb --fsys-tarfile prometheus_*.deb | tar x ./usr/bin/promtool",
            shell=True,
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if taken.returncode:
            pytest.fail(f"{wanted}\n{taken.stderr[-500:]}")
        found = str(shutil.move(folder / "usr" / "bin" / "promtool", BIN / "promtool"))
    return found


@pytest.fixture(scope="module")
def told(sampled: Path) -> bytes:
    return exposition(sampled, GROUPS_MS)[0]


@pytest.fixture(scope="module")
def labels(told: bytes) -> dict[str, set[str]]:
    """Metric -> labels that its series have; of those without a series what is declared."""
    found = {
        family.name: set(reading.labels) for reading in READINGS for family in reading.families
    }
    for family in text_string_to_metric_families(told.decode()):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, set()) | set(sample.labels)
    return found


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rules() -> Iterator[tuple[str, dict[str, object]]]:
    for group in yaml.safe_load((MONITORING / "rules.yml").read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule


def queries() -> list[str]:
    """Of the dashboard; its variables are as Grafana fills them in."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    panels = [
        target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])
    ]
    return [expression.replace("$cluster", ".*") for expression in panels]


def named(expression: str) -> dict[str, set[str]]:
    """Metric -> labels that an expression asks it for, in braces or by what it is summed up."""
    by = {
        word.strip()
        for words in re.findall(r"\b(?:by|on) ?\(([^)]*)\)", expression)
        for word in words.split(",")
        if word.strip()
    }
    bare = re.sub(r'"[^"]*"', '""', re.sub(r"\b(?:by|on) ?\([^)]*\)", "", expression))
    asked = {}
    for metric, braces in re.findall(r"\b([a-z_][a-z_0-9]*)\b(?!\()\s*(\{[^}]*\})?", bare):
        if metric in _PROMQL or re.search(rf"{{[^}}]*\b{metric}\b[^}}]*}}", bare):
            continue
        asked[metric] = {*re.findall(r"(\w+) ?[=!]", braces), *by}
    return asked


def test_the_rules_do_what_their_tests_say(promtool: str) -> None:
    run(promtool, "test", "rules", str(MONITORING / "rules.test.yml"))
    tested = yaml.safe_load((MONITORING / "rules.test.yml").read_text())["tests"]
    fired = {
        one["alertname"] for test in tested for one in test["alert_rule_test"] if one["exp_alerts"]
    }
    assert fired == {name for name, _ in rules()}


def test_each_rule_asks_for_what_there_is(labels: dict[str, set[str]]) -> None:
    for name, rule in rules():
        for metric, asked in named(str(rule["expr"])).items():
            shown = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
            assert asked | shown <= labels[metric], name


def test_each_query_of_the_dashboard_asks_for_what_there_is(labels: dict[str, set[str]]) -> None:
    for expression in queries():
        metrics = named(expression)
        assert metrics, expression
        for metric, asked in metrics.items():
            assert asked <= labels[metric], expression
    legends = re.findall(r"\{\{(\w+)\}\}", (MONITORING / "dashboard.json").read_text())
    assert set(legends) <= {label for told in labels.values() for label in told} | _ADDED


def test_prometheus_reads_the_queries(promtool: str, tmp_path: Path) -> None:
    recorded = [{"record": f"q{n}", "expr": expression} for n, expression in enumerate(queries())]
    file = tmp_path / "queries.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": recorded}]}))
    run(promtool, "check", "rules", str(file))


def test_node_exporter_reads_the_same(promtool: str, told: bytes) -> None:
    """Its parser is that of the older text format, and takes a file whole or not at all."""
    answer = subprocess.run([promtool, "check", "metrics"], input=told, capture_output=True)
    assert b"parsing error" not in answer.stderr
    assert answer.returncode in (0, 3), answer.stderr  # 3: read, and names are found fault with


def test_prometheus_reads_what_is_told(promtool: str, told: bytes, tmp_path: Path) -> None:
    """Its own parser, which takes files of samples with times."""
    lines = [
        line if line.startswith("#") else f"{line} 1700000000" for line in told.decode().split("\n")
    ]
    file = tmp_path / "told.txt"
    file.write_text("\n".join(lines[:-1]) + "\n")
    answer = run(promtool, "tsdb", "create-blocks-from", "openmetrics", str(file), str(tmp_path))
    series = sum(not line.startswith("#") for line in lines[:-1])
    assert f"{series} " in answer
