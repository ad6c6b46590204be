"""`moldau topology`: topology descriptions of streams groups, as Kafka's own tool prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from moldau.cli.held import session_for, wait_option
from moldau.cli.options import cluster_option, format_option, pass_settings
from moldau.cli.output import write_rows
from moldau.cli.say import hand_over, say, say_lines, warn
from moldau.errors import MoldauError
from moldau.reading.tables.values import to_json
from moldau.settings import Settings

if TYPE_CHECKING:
    from moldau.plugins.calls import Call, Outcome

# as kafka-streams-groups.sh words them
_MESSAGES = {
    "NOT_STORED": "No topology description is stored for streams group '{group}'.",
    "ERROR": "The broker failed to fetch the topology description for streams group '{group}'. "
    "See the broker logs for details.",
}
_KEPT = "kept: a plugin deletes all that it has of a group, and the group's description is of it"
_OTHER = "No topology description is available for streams group '{group}' (status: {status})."


@click.group(name="topology")
def topology() -> None:
    """Look at the topology descriptions that clients pushed and plugins keep.

    \b
    Example:
      moldau topology describe --group orders-app
    """


@topology.command(name="describe")
@click.option("--group", required=True, metavar="ID", help="Group whose topology is described.")
@click.option(
    "--format", "output_format", type=click.Choice(["text", "json", "mermaid", "dot"]),
    default="text", show_default=True, help="As Kafka's tool prints it, or for other programs.",
)  # fmt: skip
@cluster_option
@pass_settings
def describe(settings: Settings, group: str, output_format: str, cluster: str | None) -> int:
    """Print what the cluster's plugin has for the topology that the group runs.

    The plugin is asked only where the stored epoch is that of the topology, and the call is in
    history.plugin_calls and the metrics, as a broker would count it. The exit code is 1
    when there is no description; stderr says why, and what Kafka accepts without a word though
    no such topology could run.

    \b
    Example:
      moldau topology describe --group orders-app
      moldau topology describe --group orders-app --cluster east --format mermaid
    """
    from moldau.reading.explain.topology import describe_topology
    from moldau.topologies.as_text import as_dot, as_mermaid, as_text
    from moldau.topologies.description import to_wire
    from moldau.topologies.findings import findings

    told = describe_topology(settings, group, cluster)
    if told.call:
        _record(settings, *told.call)
    if output_format == "json":
        answer = {
            "cluster_id": told.cluster_id,
            "group_id": told.group_id,
            "topology_epoch": told.topology_epoch,
            "status": told.status,
            "topology_description": told.description and to_wire(told.description),
        }
        hand_over(to_json(answer, indent=2) + "\n")
    if told.description is None:
        message = _MESSAGES.get(told.status, _OTHER).format(group=group, status=told.status)
        say(message, err=True)
        if told.reason:
            say(f"because: {told.reason}", err=True)
        return 1
    if output_format != "json":
        form = {"text": as_text, "mermaid": as_mermaid, "dot": as_dot}[output_format]
        say_lines(form(told.description))
    for finding in findings(told.description):
        say(f"warning: {finding}", err=True)
    return 0


def _record(settings: Settings, call: Call, outcome: Outcome) -> None:
    """Kafka counts what a plugin is asked for. It is no run and waits for none: Delta takes rows
    from several writers, and who may only read the warehouse is told that nothing was counted."""
    from deltalake.exceptions import DeltaError

    from moldau.plugins.record import record_calls
    from moldau.sessions.run import run_id_after
    from moldau.warehouse.ask import ask_rows
    from moldau.warehouse.left import require_nothing_lost

    try:
        # a commit in the place of a lost one would hide the loss
        require_nothing_lost(settings.warehouse)
        [(last,)] = ask_rows(settings.warehouse, "state.runs", "select max(run_id) from t")
        record_calls(settings.warehouse, run_id_after(last, "describe"), [(call, outcome)])
    except (MoldauError, DeltaError, OSError) as error:
        say(f"warning: the call is not in history.plugin_calls: {error}", err=True)


@topology.command(name="left-overs")
@click.option("--execute", is_flag=True, help="Delete them from the plugin.")
@cluster_option
@format_option
@wait_option
@pass_settings
def left_overs(
    settings: Settings, execute: bool, cluster: str | None, output_format: str, wait: float
) -> int:
    """List what plugins hold though no live group vouches for it; --execute deletes it.

    A group that is gone, one for which nothing is stored, or of which another epoch is: Kafka
    leaves such entries to the operator. Only plugins that can tell what they hold are asked
    (`delta`, `directory`, and others with a list_topologies). Deletes need `authority: moldau`,
    and a plugin deletes by group: an old entry beside the stored one is listed and kept.

    \b
    Example:
      moldau topology left-overs --cluster ours
      moldau topology left-overs --execute
    """
    from moldau.reading.health.left_overs import left_overs as find

    names = [name for name in settings.clusters if settings.plugin_spec(name)]
    if cluster is not None:
        if cluster not in names:
            raise MoldauError(f"cluster {cluster!r} has no plugin of moldau's in the settings")
        names = [cluster]
    others = [name for name in names if settings.cluster(name).authority != "moldau"]
    if execute and others:
        raise MoldauError(
            f"nothing is deleted: moldau is not in charge of {', '.join(others)}. Give "
            "`authority: moldau` there, or --cluster with one that has it"
        )
    found, is_whole = [], True
    for name in names:
        try:
            found += find(settings, name)
        except MoldauError as error:
            if cluster is not None:
                raise
            is_whole = False
            warn(f"{name}: {error}")
    columns = ["cluster_id", "group_id", "topology_epoch", "stored_epoch", "reason_code"]
    rows = [[getattr(one, column) for column in columns] for one in found]
    if execute and found:
        from moldau.runs.purge import purge

        with session_for(settings, "moldau topology left-overs", wait) as session:
            # another command may have ended meanwhile: only what is left over now is deleted
            touched = {one.cluster_id for one in found}
            now = {one for name in touched for one in find(settings, name)}
            outcomes = purge(session, [one for one in found if one in now])
        columns += ["outcome", "message"]
        for row, one in zip(rows, found, strict=True):
            outcome = outcomes.get(one)
            is_whole &= not one.is_kept and (outcome is None or outcome.outcome == "success")
            message = _KEPT if one.is_kept else outcome and outcome.message
            row += [outcome and outcome.outcome, message]
    write_rows(columns, rows, output_format)
    return 0 if is_whole else 2
