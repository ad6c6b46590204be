"""`moldau reset-plan`: the offsets that would be written to groups, for Kafka's own tool."""

from __future__ import annotations

from pathlib import Path

import click

from moldau.cli.failures import FINDINGS
from moldau.cli.options import pass_settings_to_read
from moldau.cli.say import hand_over, say
from moldau.settings import Settings
from moldau.warehouse.durable import whole_file


@click.command(name="reset-plan")
@click.argument("flow")
@click.option(
    "--to", "target", type=click.Path(path_type=Path, dir_okay=False),
    help="The file, which appears when it is complete.  [default: standard output]",
)  # fmt: skip
@click.option(
    "--group", metavar="GROUP",
    help="Only this group, in the format that Kafka's tool takes for one.",
)  # fmt: skip
@click.option(
    "--back", "is_back", is_flag=True,
    help="For groups that come home: their offsets in the source (marts.failback_offsets).",
)  # fmt: skip
@pass_settings_to_read
def reset_plan(
    settings: Settings, flow: str, target: Path | None, group: str | None, is_back: bool
) -> None:
    """Write the offsets that groups of FLOW would be given, as a file for Kafka's own tool.

    They are those that decisions.target_offset_writes says `write` of: no group with members is
    among them, and none is set back. What is refused, for it lies past the target's end or is of
    another source or target, is told on standard error with its reason. Lines are
    group,topic,partition,offset; with --group topic,partition,offset. Kafka's tool is told the
    groups, too: --all-groups are those that the cluster knows already. moldau itself writes to no
    cluster.

    \b
    Example:
      moldau reset-plan east-to-west --to plan.csv
      kafka-consumer-groups.sh --bootstrap-server west:9092 --reset-offsets \\
        --from-file plan.csv --group billing --group audit --dry-run
    """
    from moldau.reading.explain.reset_plan import reset_plan as plan_of

    plan = plan_of(settings.warehouse, flow, group, is_back)
    if target is None:
        hand_over(plan.text)
    else:
        with whole_file(target) as unfinished:
            unfinished.write_text(plan.text, encoding="utf-8", newline="")
    told = f"offsets: {plan.offsets}, groups: {len(plan.groups)}"
    say(told if target is None else f"{told}, in {target}", err=target is None)
    for one in plan.refused:
        offset = "" if one.offset is None else f" at {one.offset}"
        say(
            f"refused: {one.group_id} on {one.place}{offset} "
            f"({one.reason_code}): {one.reason_text}",
            err=True,
        )
    for name in plan.left_out:
        say(
            f"left out: the id of group {name!r} holds a line break, which the file cannot; "
            "--group takes it alone",
            err=True,
        )
    if plan.left_out:
        click.get_current_context().exit(FINDINGS)
