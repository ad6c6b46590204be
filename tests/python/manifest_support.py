"""dbt's manifest in the words of the design: kinds of models, edges, sources."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest
from dbt.cli.main import dbtRunner
from dbt.jsonschemas import jsonschemas

from moldau.project import PROFILES, ROOT

ORDER_ONLY = re.compile(r"^-- depends_on:.*$", re.MULTILINE)
JINJA = re.compile(r"{{.*?}}|{%.*?%}", re.DOTALL)
COMMENT = re.compile(r"{#.*?#}", re.DOTALL)
KEY = re.compile(r"\*\*Key\*\* \(([^)]*)\)")


@dataclass
class Model:
    node: Any
    ancestors: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        return str(self.node.name)

    @property
    def path(self) -> Path:
        return Path(self.node.original_file_path)

    @property
    def layer(self) -> str:
        return "seeds" if self.node.resource_type == "seed" else self.path.parts[1]

    @property
    def domain(self) -> str:
        """The folder in the layer; of staging, the source."""
        return self.path.parts[2]

    @property
    def kind(self) -> str:
        """What a model is for: the rules are per kind."""
        if self.layer == "state":
            return self.path.parts[3]
        if re.fullmatch(r"int_[a-z]+__(folded|decided)", self.name):
            return "barrier"
        if self.node.config.schema == "decisions":
            return "decision"
        return {"intermediate": "helper", "marts": "mart", "seeds": "seed"}.get(
            self.layer, self.layer
        )

    @property
    def into(self) -> str | None:
        return self.node.config.meta.get("into")

    @property
    def code(self) -> str:
        return COMMENT.sub("", self.node.raw_code)

    @property
    def jinja(self) -> list[str]:
        return JINJA.findall(self.code)

    @property
    def reads(self) -> set[str]:
        return _refs(ORDER_ONLY.sub("", self.code))

    @property
    def waits_for(self) -> set[str]:
        return _refs("\n".join(ORDER_ONLY.findall(self.code)))

    @property
    def sources(self) -> list[list[str]]:
        return [list(source) for source in self.node.sources]

    @property
    def key(self) -> list[str] | None:
        told = KEY.search(" ".join(self.node.description.split()))
        return told[1].split(", ") if told else None


def _refs(code: str) -> set[str]:
    return set(re.findall(r"ref\('(\w+)'\)", code))


@dataclass
class Project:
    manifest: Any
    warnings: list[str]
    folder: Path

    @cached_property
    def models(self) -> dict[str, Model]:
        nodes = [n for n in self.manifest.nodes.values() if n.resource_type in ("model", "seed")]
        models = {node.name: Model(node) for node in nodes}
        for model in models.values():
            model.ancestors = self._ancestors(model.node)
        return {name: model for name, model in sorted(models.items())}

    def _ancestors(self, node: Any) -> set[str]:
        found: set[str] = set()
        waiting = [node]
        while waiting:
            parents = [self.manifest.nodes.get(i) for i in waiting.pop().depends_on_nodes]
            new = [p for p in parents if p and p.name not in found]
            found |= {parent.name for parent in new}
            waiting += [p for p in new if p.resource_type == "model"]
        return found

    def macros_of(self, node: Any) -> dict[str, str]:
        """The project's macros that a model calls, through others too: name -> text."""
        found: dict[str, str] = {}
        waiting = [name for name in node.depends_on.macros if name.startswith("macro.moldau.")]
        while waiting:
            macro = self.manifest.macros[waiting.pop()]
            if macro.name not in found:
                found[macro.name] = macro.macro_sql
                waiting += [n for n in macro.depends_on.macros if n.startswith("macro.moldau.")]
        return found

    def of_kind(self, *kinds: str) -> list[Model]:
        return [model for model in self.models.values() if model.kind in kinds]

    @cached_property
    def tested_keys(self) -> dict[str, list[str]]:
        """Model or seed -> the columns that a test says are unique."""
        return {
            self.manifest.nodes[node.attached_node].name: node.test_metadata.kwargs["columns"]
            for node in self.manifest.nodes.values()
            if node.resource_type == "test"
            and node.name.startswith("unique_combination_of_columns")
        }

    def selected(self, selector: str) -> set[str]:
        """The models of a selector of selectors.yml."""
        arguments = ["ls", "--selector", selector, "--resource-type", "model", "--output", "name"]
        result = dbtRunner(manifest=self.manifest).invoke([*arguments, *_options(self.folder)])
        assert result.success, result.exception
        return set(result.result)

    def compiled(self, selection: str) -> list[Any]:
        """dbt's nodes with their SQL, from no engine."""
        arguments = ["compile", "--select", selection, "--target", "open", "--no-populate-cache"]
        result = dbtRunner(manifest=self.manifest).invoke([*arguments, *_options(self.folder)])
        assert result.success, result.exception
        return [one.node for one in result.result.results]


@cache
def project() -> Project:
    folder = Path(tempfile.mkdtemp(prefix="moldau-manifest-"))
    warnings: list[str] = []

    def listen(event: Any) -> None:
        if event.info.level == "warn":
            warnings.append(event.info.msg)

    # dbt looks for what it will refuse where it knows all words of an adapter: Databricks' are ours
    known = jsonschemas._JSONSCHEMA_SUPPORTED_ADAPTERS | {"moldau"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonschemas, "_JSONSCHEMA_SUPPORTED_ADAPTERS", known)
        result = dbtRunner(callbacks=[listen]).invoke(["parse", *_options(folder)])
    assert result.success, result.exception
    return Project(result.result, warnings, folder)


def _options(folder: Path) -> list[str]:
    return [
        "--project-dir", str(ROOT), "--profiles-dir", str(PROFILES), "--quiet",
        "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
    ]  # fmt: skip
