"""`moldau collect`: what only an admin client, or a broker's disk, tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from moldau.cli.bringing import collected
from moldau.cli.held import session_for, wait_option
from moldau.cli.options import format_option, pass_settings
from moldau.cli.output import write_rows
from moldau.cli.reaching import needs_client, reach_options, timeout_option
from moldau.cli.say import say, warn
from moldau.settings import Settings

_COLUMNS = ("run_id", "cluster_id", "kind", "rows_new")
_FINDINGS_SHOWN = 20
_SNAPSHOTS = "snapshots"

_cluster = click.option(
    "--cluster", required=True, metavar="NAME", help="The cluster, by its name in the settings."
)


class _Collect(click.Group):
    """Without the name of a command it is about the snapshots."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = [_SNAPSHOTS, *args]
        return super().parse_args(ctx, args)


@click.group(name="collect", cls=_Collect)
def collect() -> None:
    """Take in what only an admin client, or a broker's disk, tells."""


@collect.command(name=_SNAPSHOTS)
@_cluster
@reach_options
@timeout_option
@format_option
@wait_option
@pass_settings
def snapshots(
    settings: Settings,
    cluster: str,
    bootstrap_servers: str | None,
    properties: Path | None,
    timeout: float,
    output_format: str,
    wait: float,
) -> None:
    """Ask a running cluster for what stands in no topic, and load it as files would be.

    Where each partition begins and ends and who leads it (partition_states), what holds for each
    topic (topic_configs, those that changed), the groups of all types (group_listings), and
    offsets that wait for the end of a transaction (open_transactions). With them marts.group_lag
    says what kafka-consumer-groups.sh --describe does. A snapshot replaces the one before it.

    How to reach the cluster stands in moldau.yml, or in the options. Nothing is written to it,
    no group is joined. What the client may not see is named, the rest is collected, and the exit
    code is 2. The rights that are needed: docs/live.md. On the host of a broker,
    `moldau collect local-segments` reads what lies on its disks. Needs the extra `kafka`:
    pip install 'moldau[kafka]'.

    \b
    Example:
      moldau collect --cluster east
      moldau collect --cluster east --bootstrap-servers broker:9092 --properties client.properties
      moldau collect local-segments --cluster east --log-dir /var/lib/kafka/data
    """
    with needs_client("moldau collect"):
        from moldau.dumping.reached import reach
    reached = reach(settings, cluster, bootstrap_servers, properties)
    for warning in reached.warnings:
        warn(warning)
    found = collected(settings, cluster, reached, timeout)
    _load(settings, cluster, reached.servers, found.rows, found.findings, output_format, wait)


def _load(
    settings: Settings,
    cluster: str,
    origin: str,
    rows: dict[str, list[dict[str, Any]]],
    findings: list[str],
    output_format: str,
    wait: float,
) -> None:
    """Each kind is a load of its own."""
    from moldau.runs.load import load_rows

    loaded = []
    if rows:
        with session_for(settings, "moldau collect", wait) as session:
            for kind, told in rows.items():
                loaded.append(load_rows(session, told, origin, cluster, kind))
    lines = [(one.run_id, one.cluster_id, one.kind, one.rows_new) for one in loaded]
    write_rows(_COLUMNS, lines, output_format)
    _end([*findings, *(str(each) for one in loaded for each in one.refused)])


def _end(findings: list[str]) -> None:
    """Name what stays unknown; with any the exit code is 2."""
    for finding in findings[:_FINDINGS_SHOWN]:
        warn(finding)
    if len(findings) > _FINDINGS_SHOWN:
        say(f"... and {len(findings) - _FINDINGS_SHOWN} more", err=True)
    if findings:
        click.get_current_context().exit(2)


@collect.command(name="local-segments")
@_cluster
@click.option(
    "--log-dir", "log_dirs", multiple=True, required=True, metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder of the broker's log.dirs; repeat it for each of them.",
)  # fmt: skip
@click.option(
    "--to", "target", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="DIR",
    help="Write local_segments.jsonl and leader_epochs.jsonl there instead, for `load` elsewhere.",
)  # fmt: skip
@format_option
@wait_option
@pass_settings
def local_segments(
    settings: Settings,
    cluster: str,
    log_dirs: tuple[Path, ...],
    target: Path | None,
    output_format: str,
    wait: float,
) -> None:
    """On the host of a broker: read its log folders, and load local_segments and leader_epochs.

    Sizes, times and records of segments come from the headers of their batches; the keys and values
    are not looked at. What other brokers' hosts told stays, and so does the leader epoch checkpoint
    of a partition that another broker is known to lead. A folder that cannot be read is named, and
    the exit code is 2.

    Where the warehouse is on another host, write files, and load those of all brokers at once.

    \b
    Example:
      moldau collect local-segments --cluster east --log-dir /var/lib/kafka/data
      moldau collect local-segments --cluster east --log-dir /var/lib/kafka/data --to /tmp/broker-1
      moldau load /tmp/broker-*/local_segments.jsonl --cluster east --kind local_segments
    """
    from moldau.collecting.log_dirs import read_log_dirs
    from moldau.collecting.other_brokers import with_other_brokers
    from moldau.runs.same_cluster import require_same_cluster

    found = read_log_dirs(log_dirs)
    if target:
        from moldau.dumping.dumped_files import complete_file

        for kind, rows in found.rows.items():
            with complete_file(target / f"{kind}.jsonl") as write:
                write(rows)
        lines = [(kind, len(rows)) for kind, rows in found.rows.items()]
        write_rows(("kind", "rows"), lines, output_format)
        _end(found.findings)
        return
    require_same_cluster(settings.warehouse.resolve(), cluster, found.offsets_id)
    with_other_brokers(settings.warehouse, cluster, found)
    origin = ", ".join(map(str, log_dirs))
    _load(settings, cluster, origin, found.rows, found.findings, output_format, wait)
