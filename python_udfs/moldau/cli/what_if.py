"""`moldau what-if`: decide under other settings, and apply nothing."""

from __future__ import annotations

import click

from moldau.cli.held import session_for, wait_option
from moldau.cli.options import (
    at_option,
    clusters_option,
    format_option,
    pass_settings,
    pass_settings_of_verbs,
)
from moldau.cli.output import write_rows
from moldau.declared import domains
from moldau.declared.domain import Domain
from moldau.instants import now_ms
from moldau.settings import Settings


@click.group(name="what-if")
def what_if() -> None:
    """See what other settings would decide before anybody changes them.

    \b
    Example:
      moldau what-if groups --set offsets.retention.minutes=1440
      moldau what-if mirrors --set exactly.once.source.support=enabled
      moldau what-if producers --set metadata.max.age.ms=600000
      moldau what-if tiers --topic orders --set retention.ms=86400000
    """


@what_if.command(name="tiers")
@click.option("--topic", required=True, help="Topic whose configs are others.")
@click.option(
    "--set", "configs", multiple=True, required=True, metavar="CONFIG=VALUE",
    help="A topic config of Kafka and its value; may be repeated.",
)  # fmt: skip
@click.option(
    "--by", type=click.Choice(["partition", "segment"]), default="partition", show_default=True,
    help="Every partition of the topic, or the segments that are decided otherwise.",
)  # fmt: skip
@at_option
@clusters_option
@format_option
@wait_option
@pass_settings
def tiers(
    settings: Settings,
    topic: str,
    configs: tuple[str, ...],
    by: str,
    clusters: tuple[str, ...],
    at_ms: int | None,
    output_format: str,
    wait: float,
) -> None:
    """Decide about tiered storage as if a topic had other configs, and show the difference.

    Columns that end in _then are what would be; nothing is applied, and no decision is stored.

    \b
    Example:
      moldau what-if tiers --topic orders --set retention.ms=86400000 --set retention.bytes=-1
      moldau what-if tiers --topic orders --set remote.copy.lag.ms=3600000 --by segment
    """
    wanted = _pairs(configs)
    from moldau.runs.what_if import PARTITION_COLUMNS, SEGMENT_COLUMNS
    from moldau.runs.what_if import what_if as decide_otherwise

    by_segment = by == "segment"
    with session_for(settings, "moldau what-if", wait, clusters=clusters) as session:
        decided_at_ms = now_ms() if at_ms is None else at_ms
        rows = decide_otherwise(session, topic, wanted, clusters, decided_at_ms, by_segment)
    write_rows(SEGMENT_COLUMNS if by_segment else PARTITION_COLUMNS, rows, output_format)


def _command(domain: Domain) -> click.Command:
    """The one form that all domains have whose settings are entries of moldau.yml."""
    asked = domain.what_if
    assert asked
    what = f"every entry of `{asked.section}:`" if asked.section else "every cluster"
    views = list(asked.told)

    @click.command(
        name=domain.name,
        short_help=asked.summary,
        help=f"""{asked.summary}

        Shows what is decided otherwise: columns that end in _then are what would be. Nothing is
        applied, and nothing is recorded.

        \b
        Example:
          moldau what-if {domain.name} --set {asked.example}
          moldau what-if {domain.name} --set {asked.example} --by {views[-1]} --format json
        """,
    )
    @click.option(
        "--set", "pairs", multiple=True, metavar="SETTING=VALUE",
        help=f"A setting as moldau.yml has it, for {what} in scope; may be repeated.",
    )  # fmt: skip
    @click.option("--ruleset", metavar="NAME", help="Another rule set.")
    @click.option(
        "--by", type=click.Choice(views), default=views[0], show_default=True,
        help="What a row is about.",
    )  # fmt: skip
    @at_option
    @clusters_option
    @format_option
    @pass_settings_of_verbs
    def command(
        settings: Settings,
        pairs: tuple[str, ...],
        ruleset: str | None,
        by: str,
        clusters: tuple[str, ...],
        at_ms: int | None,
        output_format: str,
    ) -> None:
        if not (pairs or ruleset):
            raise click.UsageError("give --set or --ruleset: what is to be otherwise?")
        from moldau.runs.otherwise import decide_otherwise

        changes = _pairs(pairs)
        decided_at_ms = now_ms() if at_ms is None else at_ms
        columns, rows = decide_otherwise(
            settings, domain, changes, ruleset, clusters, decided_at_ms, by
        )
        write_rows(columns, rows, output_format)

    return command


for _domain in domains():
    if _domain.what_if:
        what_if.add_command(_command(_domain))


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, value = _pair(text)
        if name in found:
            raise click.UsageError(f"--set {name} is given twice: {found[name]!r} and {value!r}")
        found[name] = value
    return found


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise click.UsageError(f"--set {text!r} is not NAME=VALUE")
    return name.strip(), value.strip()
