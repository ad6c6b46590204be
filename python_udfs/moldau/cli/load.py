"""`moldau load`: files into raw, decoded and state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moldau.cli.held import session_for, wait_option
from moldau.cli.options import format_option, pass_settings, place_options
from moldau.cli.output import write_rows
from moldau.cli.say import is_terminal, say
from moldau.declared import domains
from moldau.settings import Settings

if TYPE_CHECKING:
    from moldau.loading.bring import Loaded

KINDS = ("records", *(kind for domain in domains() for kind in domain.files))
REFUSALS_SHOWN = 20
COLUMNS = (
    "run_id", "cluster_id", "kind", "rows_new", "rows_already_there", "rows_refused",
)  # fmt: skip
FOUND = ("records", "decode_statuses", "unknown_topics", "notes")


@click.command(name="load")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--cluster", metavar="NAME", help="Cluster that the files are from.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="What the files hold; segments of a log (.log) hold records.",
)
@place_options
@click.option("--retry", metavar="RUN", help="Finish this load, which was set aside.")
@click.option("--drop", metavar="RUN", help="Forget this load or run, which was set aside.")
@format_option
@wait_option
@pass_settings
def load(
    settings: Settings,
    files: tuple[Path, ...],
    cluster: str | None,
    kind: str | None,
    topic: str | None,
    partition: int | None,
    retry: str | None,
    drop: str | None,
    output_format: str,
    wait: float,
) -> None:
    """Load FILES: each record once, decoded and folded into state.

    FILES are JSON (.jsonl, .ndjson, or .json with lines or one array; also with .gz or .zst),
    Parquet, Delta tables, segments of a log as a broker keeps them (.log), what Kafka's own tools
    print (.txt), folders of these, quoted patterns, and - for standard input.

    A bad line is named on stderr and left out while the others load; the exit code is then 2.
    What was not understood is counted by topic and decode status; the exit code stays 0.
    A snapshot (open_transactions, group_listings, partition_states, leader_epochs,
    local_segments, producer_topics) replaces the cluster's previous one as a whole: a bad line
    refuses all of it, and the previous one stays. A record, event or request that is there
    already adds nothing.

    A load that cannot be finished is set aside, and what it appended is taken back: `moldau
    status` says why. --retry finishes it as a load of its own, --drop forgets it.

    \b
    Example:
      moldau load samples/east/__consumer_offsets.jsonl --cluster east --kind records
      moldau load '/var/lib/kafka/data/__consumer_offsets-*' --cluster east
      moldau load --retry 00000007-load
    """
    asked = [option for option in (files, retry, drop) if option]
    if len(asked) != 1 or (not files and (cluster or kind)):
        raise click.UsageError(
            "give FILES with --cluster and --kind, or --retry RUN, or --drop RUN"
        )
    if not files:
        from moldau.reading.tables.names_of import require_warehouse

        require_warehouse(settings.warehouse)
    if drop:
        from moldau.runs.again import drop as drop_load

        with session_for(settings, "moldau load", wait) as session:
            drop_load(session, drop)
        say(f"{drop} is forgotten")
    elif retry:
        from moldau.runs.again import retry as retry_load

        with session_for(settings, "moldau load", wait) as session:
            _tell(retry_load(session, retry), output_format)
    else:
        if not cluster:
            raise click.UsageError("--cluster is missing")
        settings.cluster(cluster)
        from moldau.loading.formats import ENDINGS_OF_RECORDS, ending, size_of
        from moldau.loading.inputs import Place, inputs
        from moldau.runs.load import load as load_files

        notes: list[str] = []
        found = inputs(files, notes.append)
        if not kind:
            if not all(ending(file)[0] in ENDINGS_OF_RECORDS for file in found):
                raise click.UsageError("--kind is missing")
            kind = "records"
        place = Place(topic, partition)
        bytes_coming = sum(map(size_of, found))
        with session_for(settings, "moldau load", wait, bytes_coming) as session:
            _tell(load_files(session, found, cluster, kind, place, notes), output_format)


def _tell(loaded: Loaded, output_format: str) -> None:
    """Ends the command with exit code 2 if a line was refused; what was not understood is none."""
    from moldau.loading.remarks import of_records

    say_oddities(loaded)
    if is_terminal() and output_format == "table":
        for line in of_records(loaded.records):
            say(f"moldau: {line}", err=True)
    row = row_of(loaded, output_format)
    write_rows(tuple(row), [tuple(row.values())], output_format)
    if loaded.rows_refused:
        click.get_current_context().exit(2)


def say_oddities(loaded: Loaded) -> None:
    """On stderr: what was refused, and what a person should know."""
    for refusal in loaded.refused[:REFUSALS_SHOWN]:
        say(f"refused {refusal}", err=True)
    if loaded.rows_refused > REFUSALS_SHOWN:
        more = loaded.rows_refused - REFUSALS_SHOWN
        say(f"... and {more} more: all are in {loaded.refused_file}", err=True)
    for note in loaded.notes:
        say(f"moldau: {note}", err=True)


def row_of(loaded: Loaded, output_format: str) -> dict[str, Any]:
    """What is told of a load; as JSON what was found in it, too."""
    names = (*COLUMNS, *FOUND) if output_format == "json" else COLUMNS
    return {name: getattr(loaded, name) for name in names}
