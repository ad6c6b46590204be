"""`moldau replay`: what a recorded log would have led to under other rule sets."""

from __future__ import annotations

import click

from moldau.cli.held import session_for, wait_option
from moldau.cli.options import clusters_option, format_option, instant_option, pass_settings
from moldau.cli.output import write_rows
from moldau.cli.say import warn
from moldau.errors import MoldauError
from moldau.settings import Settings

_MILLISECONDS = click.IntRange(min=1)


@click.group(name="replay")
def replay() -> None:
    """Go through a log again under other rules, and measure what they would have cost.

    \b
    Example:
      moldau replay metadata --cluster east --from 2026-11-21T08:00:00Z --to 2026-11-21T09:00:00Z
    """


@replay.command(name="metadata")
@instant_option("--from", "from_ms", "Where the replay begins")
@instant_option("--to", "to_ms", "Where it ends, not in it")
@click.option(
    "--tick", "tick_ms", type=_MILLISECONDS, default=1_000, show_default=True, metavar="MS",
    help="Producers look every so many ms whether anything is due. A short tick costs no more "
    "time: 1 answers each event at once.",
)  # fmt: skip
@click.option(
    "--round-trip", "round_trip_ms", type=click.IntRange(min=0), default=0, show_default=True,
    metavar="MS", help="From a request to its answer.",
)  # fmt: skip
@click.option(
    "--bucket", "bucket_ms", type=_MILLISECONDS, default=300_000, show_default=True, metavar="MS",
    help="Length of the buckets of time that are measured.",
)  # fmt: skip
@click.option(
    "--ruleset", "rulesets", multiple=True, metavar="NAME",
    help="Only this rule set; may be repeated.",
)  # fmt: skip
@click.option("--rounds", is_flag=True, help="Keep every round too, with the topics it asked for.")
@clusters_option
@format_option
@wait_option
@pass_settings
def metadata(
    settings: Settings,
    from_ms: int,
    to_ms: int,
    tick_ms: int,
    round_trip_ms: int,
    bucket_ms: int,
    rulesets: tuple[str, ...],
    rounds: bool,
    clusters: tuple[str, ...],
    output_format: str,
    wait: float,
) -> None:
    """Replay the events of producers under every rule set, and show what each would have cost.

    Requests of the log are not looked at: each rule set makes its own. What the producers knew when
    the replay begins follows from the snapshot and the events before it, failures and errors are
    those of the log. The rows are in marts.metadata_replay until the cluster's next replay, and
    rounds in marts.metadata_replay_rounds.

    \b
    Example:
      moldau replay metadata --cluster east --from 1700000000000 --to 1700003600000 --tick 1000
      moldau replay metadata --from 2026-11-21T08:00 --to 2026-11-21T09:00 --tick 20 --round-trip 20
    """
    if from_ms >= to_ms:
        raise MoldauError("--from must be before --to: the replay would have no time")
    from moldau.engines.duckdb.delta_types import literal
    from moldau.reading.tables.query import table_rows
    from moldau.replays.clock import Span
    from moldau.runs.replay import Asked, replay_metadata

    asked = Asked(Span(from_ms, to_ms, tick_ms, round_trip_ms), bucket_ms, rulesets, rounds)
    with session_for(settings, "moldau replay metadata", wait, clusters=clusters) as session:
        run = replay_metadata(session, clusters, asked)
    where = f"cluster_id in ({', '.join(map(literal, run.cluster_ids))})"
    found = table_rows(settings.warehouse, "marts.metadata_replay_totals", where)
    if not run.counts["producers"]:
        warn(
            "nothing was replayed: no producer has an event in that span, or is known "
            "when it begins"
        )
    write_rows(found.columns, found.rows, output_format)
