"""`moldau cluster add`: a running cluster into moldau.yml, and what it lets the client see."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from moldau.cli.options import format_option
from moldau.cli.output import write_rows
from moldau.cli.reaching import needs_client, reach_options, timeout_option
from moldau.cli.say import say, warn
from moldau.errors import MoldauError
from moldau.settings import Settings, load_settings
from moldau.settings.fields import name_is_usable
from moldau.settings.loaded import DEFAULT_CONFIG
from moldau.settings.servers import checked_servers

if TYPE_CHECKING:
    from moldau.collecting.rights import Examined

_COLUMNS = ("resource", "operation", "is_granted", "tells")


@click.group(name="cluster")
def cluster() -> None:
    """Running clusters: how they are reached, and what they let the client see.

    \b
    Example:
      moldau cluster add east --bootstrap-servers broker:9092
      moldau cluster check east
    """


_config = click.option(
    "--config", type=click.Path(path_type=Path, dir_okay=False),
    help="Settings file.  [default: ./moldau.yml]",
)  # fmt: skip


@cluster.command(name="add")
@click.argument("name")
@reach_options
@click.option(
    "--replace", is_flag=True,
    help="Overwrite how a cluster is reached that moldau.yml names already.",
)  # fmt: skip
@timeout_option
@_config
@format_option
def add(
    name: str,
    bootstrap_servers: str | None,
    properties: Path | None,
    replace: bool,
    timeout: float,
    config: Path | None,
    output_format: str,
) -> None:
    """Write into moldau.yml how a cluster is reached, and check what it lets the client see.

    From then on its NAME is enough for `moldau collect` and `moldau dump`. The file is made if it
    is not there; its comments and order stay, and what else it says of the cluster. The file of
    --properties is named there, and nothing is copied out of it. A cluster that cannot be reached
    is not written.

    Each right is a row. Where one is missing, or the brokers are too old, it is said what stays
    unknown, and the exit code is 2. Needs the extra `kafka`: pip install 'moldau[kafka]'.

    \b
    Example:
      moldau cluster add east --bootstrap-servers broker:9092
      moldau cluster add east --bootstrap-servers broker:9093 --properties client.properties
      moldau cluster add east --bootstrap-servers other:9092 --replace
    """
    from moldau.settings.edited import write_cluster

    path = config or DEFAULT_CONFIG
    settings = load_settings(path if path.exists() else None, checks_plugins=False)
    _require_new(settings, path, name, replace)
    keys = {}
    if bootstrap_servers:
        keys["bootstrap.servers"] = checked_servers(bootstrap_servers)
    if properties:
        keys["properties"] = _from(path, properties)
    examined = _examined(settings, name, bootstrap_servers, properties, timeout)
    write_cluster(path, name, keys)
    if output_format == "table":
        say(f"{path} says now how cluster {name!r} is reached")
    _tell(examined, output_format)


@cluster.command(name="check")
@click.argument("name")
@timeout_option
@_config
@format_option
def check(name: str, timeout: float, config: Path | None, output_format: str) -> None:
    """Check what a cluster of moldau.yml lets the client see; nothing is written.

    \b
    Example:
      moldau cluster check east
      moldau cluster check east --format json
    """
    settings = load_settings(config, checks_plugins=False)
    _tell(_examined(settings, name, None, None, timeout), output_format)


def _examined(
    settings: Settings, name: str, servers: str | None, properties: Path | None, timeout: float
) -> Examined:
    with needs_client("moldau cluster"):
        from moldau.collecting.asker import asking
        from moldau.collecting.rights import examine
        from moldau.dumping.reached import reach
    reached = reach(settings, name, servers, properties)
    for warning in reached.warnings:
        warn(warning)
    with asking(reached, timeout) as asker:
        return examine(asker)


def _require_new(settings: Settings, path: Path, name: str, replace: bool) -> None:
    try:
        name_is_usable(name)
    except ValueError as error:
        raise MoldauError(f"{name!r} cannot name a cluster; allowed is {error}") from None
    told = settings.cluster(name)
    before = told.bootstrap_servers or told.properties
    if before and not replace:
        raise MoldauError(
            f"{path} says already how cluster {name!r} is reached ({before}): --replace overwrites "
            "that, and leaves what else it says of it"
        )


def _from(config: Path, file: Path) -> str:
    """As moldau.yml names it: from its own folder where it lies in there."""
    folder, absolute = config.resolve().parent, Path(os.path.abspath(file))
    return str(absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute)


def _tell(examined: Examined, output_format: str) -> None:
    if output_format == "table":
        say(
            f"Kafka {examined.version} or later; this client sees brokers: {examined.brokers}, "
            f"topics: {examined.topics}, groups: {examined.groups}"
        )
    missing = [right for right in examined.rights if not right.is_granted]
    for right in missing:
        warn(f"{right.operation} is missing on {right.resource}; unknown without it: {right.tells}")
    for line in examined.too_old:
        warn(line)
    rows = [
        (right.resource, right.operation, right.is_granted, right.tells)
        for right in examined.rights
    ]
    write_rows(_COLUMNS, rows, output_format)
    if missing or examined.too_old:
        click.get_current_context().exit(2)
