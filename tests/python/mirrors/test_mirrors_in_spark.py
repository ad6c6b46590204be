"""Spark folds and decides by the same SQL: of one story it writes what DuckDB writes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import pytest
import test_commits_with_ids as ids
import test_offers as offers
import test_unreadable_checkpoints as unreadable
from full_history_reference import fold
from mirror_story import BIG, BIG_KNOWN, STEPS, STEPS_OF_IDS, Brought, Story
from mirror_support import Key, Translated, translations, with_flows
from random_mirrors import expectations
from spark_support import change, fold_at_once, fresh, in_spark, rows, statements
from tables_alike import tables_in, written
from test_topic_ids import fold_snapshot

from moldau.records import families
from moldau.runs.decide import decide
from moldau.sessions.session import Session

pytestmark = pytest.mark.spark
ENGINES = ("spark", "duckdb")
TABLES = tables_in("decoded", "state", "decisions", "history")
NOISE = "array_join(transform(sequence(1, 20), i -> sha2(concat(id, '-', i), 256)), '')"
BALLAST_AT = 1_000_000
ON_EACH = pytest.mark.parametrize("step", STEPS)


@dataclass
class Told:
    """What stands after each step; `merges`: how Spark changed syncs among many others."""

    story: Story
    tables: list[dict[str, list[str]]] = field(default_factory=list)
    translations: list[dict[Key, Translated]] = field(default_factory=list)
    ids: list[Mapping[ids.Key, ids.Answer]] = field(default_factory=list)
    offers: list[dict[str, tuple[object, ...]]] = field(default_factory=list)
    big: list[list[tuple[object, ...]]] = field(default_factory=list)
    unread: unreadable.Told = field(default_factory=dict)
    merges: list[str] = field(default_factory=list)


def put_ballast(session: Session) -> None:
    """Of another flow, and behind all of ours: 26 MB that do not compress."""
    change(
        session,
        "insert into state.offset_syncs by name select 'ballast' as flow, 0 as syncs_incarnation, "
        f"{BALLAST_AT} + id as sync_log_offset, {NOISE} as topic_name, 0 as partition_index, "
        "id as upstream_offset, id as downstream_offset, 0 as incarnation, "
        "0 as parity_incarnation, 0 as segment_index, false as gap_before, true as is_admitted, "
        "1L as recorded_at_ms, '00000000-load' as changed_in_run_id from range(20000) as r(id)",
    )


def bring(session: Session, told: Told, step: int) -> None:
    """All at once at first, later the syncs before the rest."""
    brought = told.story.brought(session, step)
    if step:
        put_ballast(session)
        with statements() as given:
            load(session, {families.OFFSET_SYNCS: brought.pop(families.OFFSET_SYNCS)})
        told.merges = [one for one in given if "merge into state.offset_syncs" in one]
        change(session, "delete from state.offset_syncs where flow = 'ballast'")
    load(session, brought)


def load(session: Session, brought: Mapping[str, Brought]) -> None:
    clusters = sorted({name for names, _ in brought.values() for name in names})
    fold_at_once(fresh(session), clusters, {kind: sql for kind, (_, sql) in brought.items()})


def look(session: Session, told: Told) -> None:
    session.engines.at_hand = session.engines.duckdb
    story = told.story
    like, named = f"{story.prefix}%", story.prefix
    told.tables.append({name: written(session.warehouse, name, like, named) for name in TABLES})
    told.translations.append(translations(session, *story.sources()))
    told.ids.append(ids.answers(session, story.ids[0]))
    told.offers.append(offers.writes(session, story.mirror("offers")[0]))
    told.unread = unreadable.found_of(session, story.unread[1])
    told.big.append(
        rows(
            session,
            "select sync_log_offset, incarnation, segment_index, is_admitted, gap_before from "
            f"state.offset_syncs where flow = '{story.mirror('big')[0]}' and topic_name = 't' "
            "order by 1",
        )
    )


@pytest.fixture(scope="module")
def told(session: Session) -> Iterator[dict[str, Told]]:
    """Of each engine."""
    found = {}
    for engine in ENGINES:
        one = found[engine] = Told(Story(f"by-{engine}-"))
        configured = with_flows(session, one.story.flows())
        ours = in_spark(configured) if engine == "spark" else configured
        for step in STEPS:
            # snapshots of other instants are there before, those of the first step before the flows
            for is_its_own, taken in one.story.sightings(step):
                if not is_its_own:
                    fold_snapshot(fresh(configured if step else session), taken)
            bring(ours, one, step)
            decide(fresh(ours), "translate", one.story.scope(), 10_000 + step, is_dry_run=False)
            look(configured, one)
    yield found


@ON_EACH
@pytest.mark.parametrize("table", TABLES)
def test_both_write_the_same_rows(told: dict[str, Told], table: str, step: int) -> None:
    spark, duckdb = (Counter(told[engine].tables[step][table]) for engine in ENGINES)
    assert (spark - duckdb, duckdb - spark) == (Counter(), Counter())


def test_the_story_fills_every_table_of_mirrors(told: dict[str, Told]) -> None:
    filled = {name for name, rows in told["spark"].tables[-1].items() if rows}
    assert {
        "decoded.offset_syncs", "decoded.checkpoints", "state.flows", "state.offset_syncs",
        "state.mirrored_partitions", "state.source_topics", "state.checkpoints",
        "state.mirror_task_starts", "state.partition_states", "decisions.offset_translations",
        "decisions.target_offset_writes", "history.checkpoints", "history.decision_changes",
    } <= filled  # fmt: skip


@ON_EACH
@pytest.mark.parametrize("name", ids.CASES)
def test_a_commit_is_of_the_topic_whose_id_it_carries(
    told: dict[str, Told], name: str, step: int
) -> None:
    """Every sync is folded anew where commits that bring ids come last."""
    one, case, run = told["spark"], ids.CASES[name], STEPS_OF_IDS[step][-1]
    for ruleset in ids.LAKE:
        for place, commit in enumerate(case.commits):
            answer = one.ids[step].get(ids.key(one.story.ids[0], ruleset, name, place))
            assert answer == ids.wanted(case, ruleset, place, run), (ruleset, commit)


@ON_EACH
@pytest.mark.parametrize("group", offers.CASES)
def test_what_is_refused_has_its_reason(told: dict[str, Told], group: str, step: int) -> None:
    first, *_, last = offers.CASES[group].expected
    expected = last if step else first
    assert told["spark"].offers[step][group][1:] == offers.written(expected)


@pytest.mark.parametrize(
    "check",
    [
        unreadable.test_the_checkpoint_before_an_unreadable_one_stays,
        unreadable.test_an_unreadable_one_alone_is_none,
        unreadable.test_a_good_one_behind_unreadable_ones_is_the_last,
        unreadable.test_what_kafka_reads_is_read_as_kafka_reads_it,
    ],
    ids=lambda check: check.__name__.removeprefix("test_"),
)
def test_unreadable_checkpoints_are_passed_by(
    told: dict[str, Told], check: Callable[[unreadable.Told], None]
) -> None:
    check(told["spark"].unread)


@ON_EACH
def test_random_histories_are_translated_as_by_the_reference(
    told: dict[str, Told], step: int
) -> None:
    found = told["spark"].translations[step]
    for sample in told["spark"].story.samples:
        for one in sample.partitions:
            for rules in sample.rules:
                *_, groups = islice(expectations(one, rules, sample.synced_at_start), step + 1)
                for group, expected in groups.items():
                    row = found[sample.flow(rules), group, one.topic]
                    assert row.translated_offset == expected.translated, row


@ON_EACH
def test_slots_up_to_the_largest_offset(told: dict[str, Told], step: int) -> None:
    story = told["spark"].story
    for flow, (ruleset, is_readable) in story.slot_flows().items():
        found = {
            (group, topic): row.translated_offset
            for (of, group, topic), row in told["spark"].translations[step].items()
            if of == flow and row.translated_offset is not None
        }
        assert found == story.slots.translated(ruleset, is_readable, step), flow


@ON_EACH
def test_a_big_history_is_folded_on(told: dict[str, Told], step: int) -> None:
    """The replay waits at first; of a gap before a sync the load that fills it tells."""
    known = BIG[: BIG_KNOWN[step]]
    assert told["spark"].big[step] == [
        (one.log_offset, one.incarnation, one.segment, one.is_admitted, one.gap_before)
        for one in fold(known, missing_before=() if step else [3])
    ]
    assert all(is_admitted for *_, is_admitted, _ in told["spark"].big[step]) == (step > 0)


def test_a_load_looks_at_what_it_can_change(told: dict[str, Told]) -> None:
    """One merge, and of the files only those within its span."""
    [merge] = told["spark"].merges
    spans = re.findall(r"t\.sync_log_offset between (\d+) and (\d+)", merge)
    assert spans and all(int(last) < BALLAST_AT for _, last in spans)
