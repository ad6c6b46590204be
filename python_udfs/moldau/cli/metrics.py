"""`moldau metrics`: what `moldau serve` gives Prometheus, once."""

from __future__ import annotations

import click

from moldau.cli.options import clock_option, pass_settings_to_read
from moldau.cli.say import hand_over
from moldau.settings import Settings


@click.command(name="metrics")
@click.option(
    "--series",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="The most series that one metric has; of more the worst are kept, and "
    "moldau_series_left_out counts the rest.",
)
@clock_option
@pass_settings_to_read
def metrics(settings: Settings, series: int, at_ms: int | None) -> None:
    """Print the metrics of the warehouse as OpenMetrics text, as `/metrics` of `serve` does.

    \b
    Example:
      moldau metrics > /var/lib/node_exporter/moldau.prom
    """
    from moldau.metrics.exposition import exposition

    text, _ = exposition(settings.warehouse, at_ms, series)
    hand_over(text.decode())
