"""`moldau compare`: decide the same state under two rule sets, and show what differs."""

from __future__ import annotations

import click

from moldau.cli.held import session_for, wait_option
from moldau.cli.options import at_option, clusters_option, format_option, pass_settings
from moldau.cli.output import write_rows
from moldau.instants import now_ms
from moldau.settings import Settings


@click.command(name="compare")
@click.option("--domain", default="groups", show_default=True, help="Domain of the rule sets.")
@click.option(
    "--ruleset", "rulesets", multiple=True, required=True, metavar="NAME",
    help="A rule set; give it twice.",
)  # fmt: skip
@at_option
@clusters_option
@format_option
@wait_option
@pass_settings
def compare(
    settings: Settings,
    domain: str,
    rulesets: tuple[str, ...],
    clusters: tuple[str, ...],
    at_ms: int | None,
    output_format: str,
    wait: float,
) -> None:
    """Decide under two rule sets on the same state, apply nothing, and show the rows that differ.

    They are in marts.ruleset_differences until the next comparison.

    \b
    Example:
      moldau compare --domain groups --ruleset kip_1331_draft --ruleset kafka_4_4
    """
    if len(rulesets) != 2:
        raise click.UsageError("give --ruleset twice")
    from moldau.reading.tables.query import key_of, table_rows
    from moldau.runs.compare import compare as compare_rulesets

    with session_for(settings, "moldau compare", wait, clusters=clusters) as session:
        decided_at_ms = now_ms() if at_ms is None else at_ms
        compare_rulesets(session, domain, (rulesets[0], rulesets[1]), clusters, decided_at_ms)
    mart = "marts.ruleset_differences"
    found = table_rows(settings.warehouse, mart)
    write_rows(found.columns, found.rows, output_format, key_of(settings.warehouse, mart))
