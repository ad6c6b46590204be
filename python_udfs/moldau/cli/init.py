"""`moldau init`: create the warehouse."""

from __future__ import annotations

import click

from moldau.cli.held import held_for, wait_option
from moldau.cli.options import pass_settings
from moldau.cli.say import say
from moldau.settings import Settings
from moldau.warehouse.contracts import tables


@click.command(name="init")
@wait_option
@pass_settings
def init(settings: Settings, wait: float) -> None:
    """Create the warehouse: every table with its constraints. Tables that are there are kept.

    \b
    Example:
      moldau init --warehouse ./warehouse
    """
    from moldau.warehouse.create import create, is_initialised
    from moldau.warehouse.seeds import seed

    was_there = is_initialised(settings.warehouse)
    with held_for(settings, "moldau init", wait) as held:
        held.lock(settings)
        warehouse = settings.warehouse.resolve()
        create(warehouse)
        seed(warehouse)
        verb = "has" if was_there else "now has"
        say(f"the warehouse {warehouse} {verb} {len(tables())} tables")
