"""`moldau load`: files into raw, decoded and state."""

from __future__ import annotations

from pathlib import Path

import click

from moldau.cli.options import format_option, pass_settings
from moldau.cli.output import write_rows
from moldau.cli.sessions import session_for, wait_option
from moldau.settings import Settings

# as loading.shapes has them: a test holds the two together
KINDS = (
    "records",
    "open_transactions",
    "partition_states",
    "leader_epochs",
    "local_segments",
    "topic_configs",
)
REFUSALS_SHOWN = 20


@click.command(name="load")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--cluster", required=True, metavar="NAME", help="Cluster that the files are from.")
@click.option("--kind", required=True, type=click.Choice(KINDS), help="What the files hold.")
@format_option
@wait_option
@pass_settings
def load(
    settings: Settings,
    files: tuple[Path, ...],
    cluster: str,
    kind: str,
    output_format: str,
    wait: float,
) -> None:
    """Load FILES (.jsonl, .jsonl.gz, .parquet): each record once, decoded and folded into state.

    A bad line is named on stderr and left out while the others load; the exit code is then 2.
    A snapshot (every kind but records and topic_configs) replaces the cluster's previous one.

    \b
    Example:
      moldau load samples/east/__consumer_offsets.jsonl --cluster east --kind records
    """
    settings.cluster(cluster)
    for file in files:
        if not file.is_file():
            raise click.UsageError(f"{file} is not a file")
    from moldau.loading.journal import load as load_files

    bytes_coming = sum(file.stat().st_size for file in files)
    with session_for(settings, "moldau load", wait, bytes_coming) as session:
        loaded = load_files(session, list(files), cluster, kind)
    for refusal in loaded.refused[:REFUSALS_SHOWN]:
        click.echo(f"refused {refusal}", err=True)
    if len(loaded.refused) > REFUSALS_SHOWN:
        click.echo(f"... and {len(loaded.refused) - REFUSALS_SHOWN} more", err=True)
    columns = ("run_id", "cluster_id", "kind", "rows_new", "rows_already_there", "rows_refused")
    row = (
        loaded.run_id, cluster, kind,
        loaded.rows_new, loaded.rows_already_there, len(loaded.refused),
    )  # fmt: skip
    write_rows(columns, [row], output_format)
    if loaded.refused:
        click.get_current_context().exit(2)
