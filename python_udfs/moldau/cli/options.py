"""Options that many verbs share."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from moldau.cli.failures import works_on
from moldau.cli.progress import hide
from moldau.cli.say import be_quiet
from moldau.engines.engine import EngineName
from moldau.errors import MoldauError
from moldau.instants import parse_instant
from moldau.reading.tables.csv_rows import SAFE_CSV
from moldau.settings import Settings, load_settings

Command = TypeVar("Command", bound=Callable[..., Any])
_INSTANT, _NOW = "MS_OR_ISO", "  [default: now]"
_INSTANT_FORMS = "Unix milliseconds, or ISO 8601 (UTC without a zone)"


class _Folder(click.Path):
    """A path; no text at all, as a variable of a shell that is not set gives, is no folder."""

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("a folder is expected, and the text is empty", param, ctx)
        return super().convert(value, param, ctx)


def _with_settings(
    command: Callable[..., Any], checks_plugins: bool, takes_engine: bool
) -> Callable[..., Any]:
    @click.option(
        "--config",
        type=click.Path(path_type=Path),
        help="Settings file.  [default: ./moldau.yml, if it is there]",
    )
    @click.option(
        "--warehouse",
        type=_Folder(path_type=Path),
        help="Folder of the tables.  [default: MOLDAU_WAREHOUSE, else `warehouse:` of the "
        "settings, else ./warehouse]",
    )
    @functools.wraps(command)
    def with_settings(
        *arguments: Any, config: Path | None, warehouse: Path | None, **options: Any
    ) -> Any:
        engine: EngineName | None = options.pop("engine") if takes_engine else None
        # a line of `moldau exec` has the files that `exec` was given, unless it names others
        held = getattr(click.get_current_context().find_root().obj, "settings", None)
        if held is not None:
            engine = engine or (None if config else held.engine)
            config = config or held.config
            warehouse = warehouse or held.warehouse
        settings: Settings = load_settings(config, warehouse, checks_plugins, engine)
        require_folder(settings.warehouse)
        works_on(settings.warehouse, settings.plugin_secrets)
        return command(settings, *arguments, **options)

    return _engine_option(with_settings) if takes_engine else with_settings


_engine_option = click.option(
    "--engine",
    type=click.Choice(get_args(EngineName)),
    help="What makes the models: duckdb (embedded), spark, or auto, which takes Spark where the "
    "tables do not fit into memory.  [default: MOLDAU_ENGINE, else `engine:` of the settings, "
    "else auto]",
)

pass_settings = functools.partial(_with_settings, checks_plugins=True, takes_engine=True)
"""Adds `--config`, `--warehouse`, `--engine`; the command receives a Settings as first argument."""

pass_settings_of_verbs = functools.partial(_with_settings, checks_plugins=False, takes_engine=True)
"""Likewise, where no plugin is called yet: one that cannot be loaded does not stop it."""

pass_settings_to_read = functools.partial(_with_settings, checks_plugins=False, takes_engine=False)
"""Likewise, for a verb that only reads."""


def pass_settings_of_moments(command: Callable[..., Any]) -> Any:
    """Likewise, with `--engine` for `--as-of`: whatever else the verb does, it only reads."""

    @functools.wraps(command)
    def with_moment(settings: Settings, *arguments: Any, **options: Any) -> Any:
        named = click.get_current_context().params.get("engine")
        if named and options["as_of_ms"] is None:
            raise click.UsageError(
                "--engine says what rebuilds the moment of --as-of, which is not given: all else "
                "is read without Spark (`moldau sql` asks Spark)"
            )
        return command(settings, *arguments, **options)

    return pass_settings_of_verbs(with_moment)


def require_folder(warehouse: Path) -> None:
    """MoldauError if a warehouse can neither be there nor be made there."""
    if os.path.exists(warehouse) and not os.path.isdir(warehouse):
        raise MoldauError(f"the warehouse must be a folder, and {warehouse} is a file")


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--format` and `--safe-csv`; the command receives `output_format`."""

    @click.option(
        "--format",
        "output_format",
        type=click.Choice(["table", "json", "csv"]),
        default="table",
        show_default=True,
        help="How rows are written.",
    )
    @click.option(
        "--safe-csv",
        is_flag=True,
        help="CSV for a spreadsheet: texts that begin with =, +, -, @, tab or CR, which it would "
        "take for formulas, have a ' before them.",
    )
    @functools.wraps(command)
    def with_format(*arguments: Any, output_format: str, safe_csv: bool, **options: Any) -> Any:
        if safe_csv and output_format == "json":
            raise click.UsageError("--safe-csv is CSV, and --format says json")
        written = SAFE_CSV if safe_csv else output_format
        return command(*arguments, output_format=written, **options)

    return with_format


def instant_option(option: str, parameter: str, what: str) -> Callable[[Command], Command]:
    """Adds an instant that must be given; the command receives it in Unix milliseconds."""
    return click.option(
        option,
        parameter,
        required=True,
        metavar=_INSTANT,
        callback=lambda _context, _option, text: parse_instant(text),
        help=f"{what}: {_INSTANT_FORMS}.",
    )


def optional_instant(
    option: str, parameter: str, what: str, default: str = ""
) -> Callable[[Command], Command]:
    """Adds an instant that may be given; the command receives Unix milliseconds, None = none."""
    return click.option(
        option,
        parameter,
        metavar=_INSTANT,
        callback=lambda _context, _option, text: None if text is None else parse_instant(text),
        help=f"{what}: {_INSTANT_FORMS}.{default}",
    )


cluster_option = click.option(
    "--cluster", metavar="NAME", help="Only this cluster, by its name in the settings."
)
"""The command receives `cluster`, None = all."""

clusters_option = click.option(
    "--cluster", "clusters", multiple=True, metavar="NAME",
    help="Only this cluster; may be repeated.",
)  # fmt: skip
"""The command receives `clusters`, () = all."""

at_option = optional_instant("--at", "at_ms", "The instant to decide at", _NOW)
"""The command receives `at_ms` in Unix milliseconds, None = now."""

clock_option = optional_instant("--at", "at_ms", "The clock of marts", _NOW)
"""`--at` of verbs that read: likewise."""

as_of_option = optional_instant(
    "--as-of", "as_of_ms", "As it was then, rebuilt from the records up to it"
)
"""`--as-of` of verbs that read; the command receives `as_of_ms`, None = as it is."""


def place_options(command: Command) -> Command:
    """--topic and --partition of files of records that do not tell them."""
    topic = click.option("--topic", metavar="NAME", help="Of files that do not tell their topic.")
    partition = click.option(
        "--partition",
        type=click.IntRange(min=0),
        help="Of files that do not tell their partition.",
    )
    return topic(partition(command))


def shape_options(command: Command) -> Command:
    """Adds `--all` and `--vertical`; the command receives `shape`."""
    of_all = click.option(
        "--all", "shape", flag_value="all",
        help="On a terminal all columns, not only those that fit: in tables one below the other.",
    )  # fmt: skip
    vertical = click.option(
        "--vertical", "shape", flag_value="vertical", help="A line for each value."
    )
    fitted = click.option("--fitted", "shape", flag_value="fitted", default="fitted", hidden=True)
    return of_all(vertical(fitted(command)))


def _be_quiet(_context: click.Context, _option: click.Parameter, is_quiet: bool) -> None:
    if is_quiet:
        hide()
        be_quiet()


_QUIET = click.Option(
    ["--quiet"], is_flag=True, expose_value=False, is_eager=True, callback=_be_quiet,
    help="On stderr only what is wrong: neither what the verb is about nor what it leaves out.",
)  # fmt: skip


def with_quiet(command: click.Command) -> click.Command:
    """The command, and those under it, with `--quiet`."""
    if isinstance(command, click.Group):
        for each in command.commands.values():
            with_quiet(each)
    elif _QUIET not in command.params:
        command.params.append(_QUIET)
    return command
