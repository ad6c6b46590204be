"""Find moldau.yml and the warehouse, read the file, check every key."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from moldau.errors import MoldauError
from moldau.settings.cluster import ClusterSettings
from moldau.settings.fields import Name, Section, name_is_usable, nothing_is_empty
from moldau.settings.others import FlowSettings, ProducerSettings
from moldau.settings.plugin import UNCHECKED
from moldau.settings.problems import describe
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


class _File(Section):
    """The whole of moldau.yml."""

    warehouse: str | None = None
    clusters: Annotated[dict[Name, ClusterSettings], _Empty] = Field(default_factory=dict)
    flows: Annotated[dict[Name, FlowSettings], _Empty] = Field(default_factory=dict)
    producers: Annotated[dict[Name, ProducerSettings], _Empty] = Field(default_factory=dict)
    publish: Annotated[list[Mart], BeforeValidator(lambda told: [] if told is None else told)] = (
        Field(default_factory=list)
    )


class Settings(Section):
    """Everything that moldau.yml, the options and the environment say."""

    warehouse: Path
    config: Path | None
    """The file that was read; null = none was there, all defaults hold."""
    clusters: dict[str, ClusterSettings]
    flows: dict[str, FlowSettings]
    producers: dict[str, ProducerSettings]
    publish: list[str] = Field(default_factory=list)
    """Marts that each run writes as Delta tables."""

    def cluster(self, name: str) -> ClusterSettings:
        """Settings of a cluster; one that is not listed has the defaults."""
        if name in self.clusters:
            return self.clusters[name]
        try:
            name_is_usable(name)
        except ValueError as error:
            raise MoldauError(f"{name!r} cannot name a cluster; allowed is {error}") from None
        return ClusterSettings()

    def producer(self, producer_id: str) -> ProducerSettings:
        """Settings of a producer: its own over those of `default`."""
        return self.producers.get(producer_id) or self.producers.get("default", ProducerSettings())


def load_settings(
    config: Path | None = None, warehouse: Path | None = None, checks_plugins: bool = True
) -> Settings:
    """Read and check the settings; MoldauError names file, key, value and what is allowed.

    `config`: the file, which must then exist; None = ./moldau.yml if it is there.
    `warehouse`: the folder; None = MOLDAU_WAREHOUSE, else `warehouse:` relative to the file,
    else ./warehouse. The folder itself is not looked at.
    `checks_plugins`: false = no plugin is loaded, as whoever only reads calls none.
    """
    path = config if config is not None else DEFAULT_CONFIG
    content = read_yaml(path, is_required=config is not None)
    try:
        file = _File.model_validate(
            _with_inherited_producers(content or {}), context=None if checks_plugins else UNCHECKED
        )
    except ValidationError as error:
        raise MoldauError(f"{path}: {describe(error, _File)}") from None
    return Settings(
        warehouse=_warehouse(warehouse, file.warehouse, path),
        config=None if content is None else path,
        clusters=file.clusters,
        flows=file.flows,
        producers=file.producers,
        publish=file.publish,
    )


def _with_inherited_producers(content: dict[Any, Any]) -> dict[Any, Any]:
    producers = content.get("producers")
    if not isinstance(producers, dict) or not isinstance(producers.get("default"), dict):
        return content
    default = producers["default"]
    inherited = {
        name: {**default, **(own or {})} if isinstance(own, dict | None) else own
        for name, own in producers.items()
    }
    return {**content, "producers": inherited}


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
