"""`moldau maintain`: all upkeep of the tables at once."""

from __future__ import annotations

import click

from moldau.cli.held import held_for, wait_option
from moldau.cli.options import format_option, pass_settings
from moldau.cli.output import write_rows
from moldau.errors import MoldauError
from moldau.settings import Settings

COLUMNS = ("table", "files_joined", "files_deleted", "bytes_freed", "left")


@click.command(name="maintain")
@click.argument("tables", metavar="[TABLE]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Say what is due, and change nothing.")
@format_option
@wait_option
@pass_settings
def maintain(
    settings: Settings, tables: tuple[str, ...], dry_run: bool, output_format: str, wait: float
) -> None:
    """Join the small files of tables that only grow, and delete data files that no version of the
    last week needs (`maintain: retention_hours` in moldau.yml).

    Runs do so by themselves, about once in 16 commits of a table. LEFT says why files stay small;
    with --engine spark Spark's OPTIMIZE and VACUUM do it, of any table.

    \b
    Example:
      moldau maintain --dry-run
      moldau maintain state.runs history.decision_changes
    """
    from moldau.reading.tables.names_of import existing_tables
    from moldau.warehouse.upkeep import forget_refusals
    from moldau.warehouse.upkeep import maintain as maintain_table

    there = existing_tables(settings.warehouse)
    for name in tables:
        if name not in there:
            raise MoldauError(f"there is no table {name!r}: `moldau status` lists them")
    with held_for(settings, "moldau maintain", wait) as held:
        held.lock(settings)
        warehouse = settings.warehouse.resolve()
        retention = settings.maintain.hours_of
        if settings.engine == "spark" and not dry_run:
            from moldau.engines.spark.spark_session import start
            from moldau.engines.spark.upkeep import maintain_in_spark

            spark = start(warehouse, is_brief=True, told=settings.spark)
            done = [maintain_in_spark(spark, warehouse, n, retention) for n in tables or there]
        else:
            done = [maintain_table(warehouse, n, retention, dry_run) for n in tables or there]
        if not (tables or dry_run):
            forget_refusals(warehouse, retention)
    rows = [tuple(vars(one).values()) for one in done]
    write_rows(COLUMNS, [row for row in rows if any(row[1:])], output_format)
