"""Find moldau.yml and the warehouse, read the file, check every key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, cast, get_args

from pydantic import BeforeValidator, Field, ValidationError, create_model
from pydantic_core import PydanticCustomError

from moldau.declared import domains
from moldau.engines.engine import EngineName
from moldau.errors import MoldauError
from moldau.plugins.registry import PluginSpec, secrets_of
from moldau.settings.cluster import ClusterSettings
from moldau.settings.fields import Name, Section, name_is_usable, nothing_is_empty
from moldau.settings.limits import Limits
from moldau.settings.maintain import Maintain
from moldau.settings.plugin import UNCHECKED
from moldau.settings.problems import describe
from moldau.settings.spark import SparkProperties
from moldau.settings.yaml_file import read_yaml
from moldau.warehouse.contracts import marts

DEFAULT_CONFIG = Path("moldau.yml")
DEFAULT_WAREHOUSE = Path("warehouse")
_Empty = BeforeValidator(nothing_is_empty)


def _mart(name: Any) -> Any:
    known = [mart.name for mart in marts().values()]
    if name not in known:
        raise PydanticCustomError("mart", f"one of {', '.join(known)}")
    return name


Mart = Annotated[str, BeforeValidator(_mart)]


class _Shared(Section):
    """What moldau.yml says for every domain."""

    warehouse: str | None = None
    engine: EngineName = "auto"
    spark: SparkProperties = Field(default_factory=dict)
    clusters: Annotated[dict[Name, ClusterSettings], _Empty] = Field(default_factory=dict)
    limits: Limits = Field(default_factory=Limits)
    maintain: Maintain = Field(default_factory=Maintain)
    publish: Annotated[list[Mart], BeforeValidator(lambda told: [] if told is None else told)] = (
        Field(default_factory=list)
    )


_SECTIONS = {name: model() for one in domains() for name, model in one.sections.items()}


def _whole() -> type[_Shared]:
    def entries(model: Any) -> Any:
        read = BeforeValidator(model.entries)
        return Annotated[dict[Name, model], read], Field(default_factory=dict)

    fields: dict[str, Any] = {name: entries(model) for name, model in _SECTIONS.items()}
    return create_model("_File", __base__=_Shared, **fields)


_File = _whole()


class Settings(Section):
    """Everything that moldau.yml, the options and the environment say."""

    warehouse: Path
    config: Path | None
    """The file that was read; null = none was there, all defaults hold."""
    clusters: dict[str, ClusterSettings]
    sections: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """Sections of domains, by their names and the names of their entries: `flows`, `producers`."""
    limits: Limits = Field(default_factory=Limits)
    maintain: Maintain = Field(default_factory=Maintain)
    publish: list[str] = Field(default_factory=list)
    """Marts that each run writes as Delta tables."""
    engine: EngineName = "auto"
    """What makes the models of runs: `auto` = DuckDB while their tables fit into memory."""
    spark: dict[str, str] = Field(default_factory=dict)
    """Properties of Spark, by its own names."""

    @property
    def sparks_entry(self) -> str | None:
        """An entry of a section that DuckDB would read in another way than Spark."""
        entries = (
            (f"{section}.{name}", entry)
            for section, told in self.sections.items()
            for name, entry in told.items()
        )
        return next((name for name, entry in entries if entry.needs_spark), None)

    def cluster(self, name: str) -> ClusterSettings:
        """Settings of a cluster; one that is not listed has the defaults."""
        if name in self.clusters:
            return self.clusters[name]
        try:
            name_is_usable(name)
        except ValueError as error:
            raise MoldauError(f"{name!r} cannot name a cluster; allowed is {error}") from None
        return ClusterSettings()

    def properties_of(self, cluster: str) -> Path | None:
        """The file that says how to log in to the cluster; None = moldau.yml names none."""
        told = self.cluster(cluster).properties
        folder = self.config.parent if self.config else Path()
        return folder / Path(told).expanduser() if told else None

    def named_clusters(self) -> tuple[str, ...]:
        """Every cluster that the file names, by itself or in an entry of a section."""
        entries = [entry for told in self.sections.values() for entry in told.values()]
        named = {name for entry in entries for name in entry.named_clusters()}
        return tuple(sorted({*self.clusters, *named}))

    def plugin_spec(self, cluster: str) -> PluginSpec | None:
        """What constructs the cluster's plugin; None = the file gives it none."""
        plugin = self.cluster(cluster).plugin
        if plugin is None:
            return None
        return PluginSpec(
            name=plugin.name,
            options=plugin.options,
            cluster_id=cluster,
            warehouse=str(self.warehouse.resolve()),
            folder=str((self.config.parent if self.config else Path.cwd()).resolve()),
            timeout_seconds=plugin.timeout_seconds,
        )

    def plugin_secrets(self) -> set[str]:
        """What nobody is told of the options of all plugins: what their classes do not name."""
        specs = filter(None, map(self.plugin_spec, self.clusters))
        return {secret for spec in specs for secret in secrets_of(spec)}

    def entry(self, section: str, name: str) -> Any:
        """An entry of a domain's section; one that is not listed has what `default` says."""
        told = self.sections.get(section, {})
        return told.get(name) or told.get("default") or _SECTIONS[section]()


def load_settings(
    config: Path | None = None,
    warehouse: Path | None = None,
    checks_plugins: bool = True,
    engine: EngineName | None = None,
) -> Settings:
    """Read and check the settings; MoldauError names file, key, value and what is allowed.

    `config`: the file, which must then exist; None = ./moldau.yml if it is there.
    `warehouse`: the folder; None = MOLDAU_WAREHOUSE, else `warehouse:` relative to the file,
    else ./warehouse. The folder itself is not looked at.
    `checks_plugins`: false = no plugin is loaded, as whoever only reads calls none.
    `engine`: None = MOLDAU_ENGINE, else `engine:` of the file, else auto.
    """
    path = config if config is not None else DEFAULT_CONFIG
    content = read_yaml(path, is_required=config is not None)
    try:
        file = _File.model_validate(
            _with_defaults(content or {}), context=None if checks_plugins else UNCHECKED
        )
    except ValidationError as error:
        raise MoldauError(f"{path}: {describe(error, _File)}") from None
    settings = Settings(
        warehouse=_warehouse(warehouse, file.warehouse, path),
        config=None if content is None else path,
        clusters=file.clusters,
        sections={name: getattr(file, name) for name in _SECTIONS},
        limits=file.limits,
        maintain=file.maintain,
        publish=file.publish,
        engine=engine or _engine() or file.engine,
        spark=file.spark,
    )
    if settings.engine == "duckdb" and (sparks := settings.sparks_entry):
        raise MoldauError(
            f"{path}: {sparks} has a pattern that only Spark reads as Java does, so its engine "
            "cannot be duckdb"
        )
    return settings


def _engine() -> EngineName | None:
    """What the environment says."""
    engine = os.environ.get("MOLDAU_ENGINE") or None
    if engine not in (None, *get_args(EngineName)):
        allowed = ", ".join(get_args(EngineName))
        raise MoldauError(f"MOLDAU_ENGINE is {engine!r}; allowed is one of {allowed}")
    return cast("EngineName | None", engine)


def _with_defaults(content: dict[Any, Any]) -> dict[Any, Any]:
    """Entries of the sections that inherit have what `default` says and they do not."""
    for section in (name for name, model in _SECTIONS.items() if model.inherits_default):
        told = content.get(section)
        if isinstance(told, dict) and isinstance(default := told.get("default"), dict):
            inherited = {
                name: {**default, **(own or {})} if isinstance(own, dict | None) else own
                for name, own in told.items()
            }
            content = {**content, section: inherited}
    return content


def _warehouse(option: Path | None, in_file: str | None, config: Path) -> Path:
    from_environment = os.environ.get("MOLDAU_WAREHOUSE")
    if option is not None:
        chosen = option
    elif from_environment:
        chosen = Path(from_environment)
    elif in_file:
        chosen = config.parent / Path(in_file).expanduser()
    else:
        chosen = DEFAULT_WAREHOUSE
    if ":/" in str(chosen):
        raise MoldauError(f"the warehouse must be a local folder, and {chosen} is a URL")
    return chosen
