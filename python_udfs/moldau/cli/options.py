"""Options that many verbs share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from moldau.instants import parse_instant
from moldau.settings import Settings, load_settings

Command = TypeVar("Command", bound=Callable[..., Any])


def pass_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--config` and `--warehouse`; the command receives a Settings as first argument."""

    @click.option(
        "--config",
        type=click.Path(path_type=Path),
        help="Settings file.  [default: ./moldau.yml, if it is there]",
    )
    @click.option(
        "--warehouse",
        type=click.Path(path_type=Path),
        help="Folder of the tables.  [default: MOLDAU_WAREHOUSE, else `warehouse:` of the "
        "settings, else ./warehouse]",
    )
    @functools.wraps(command)
    def with_settings(
        *arguments: Any, config: Path | None, warehouse: Path | None, **options: Any
    ) -> Any:
        # a line of `moldau exec` has the files that `exec` was given, unless it names others
        held = getattr(click.get_current_context().find_root().obj, "settings", None)
        if held is not None:
            config = config or held.config
            warehouse = warehouse or held.warehouse
        settings: Settings = load_settings(config, warehouse)
        return command(settings, *arguments, **options)

    return with_settings


def format_option(command: Command) -> Command:
    """Adds `--format`; the command receives `output_format`."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(["table", "json", "csv"]),
        default="table",
        show_default=True,
        help="How rows are written.",
    )(command)


def cluster_option(command: Command) -> Command:
    """Adds `--cluster`; the command receives `cluster`, None = all."""
    return click.option(
        "--cluster", metavar="NAME", help="Only this cluster, by its name in the settings."
    )(command)


def at_option(command: Command) -> Command:
    """Adds `--at`; the command receives `at_ms` in Unix milliseconds, None = now."""
    return click.option(
        "--at",
        "at_ms",
        metavar="MS_OR_ISO",
        callback=lambda _context, _option, text: None if text is None else parse_instant(text),
        help="The instant to decide at: Unix milliseconds, or ISO 8601 (UTC without a zone).  "
        "[default: now]",
    )(command)
