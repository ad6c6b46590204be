"""What is lost next, what is held, what is behind, and what needs somebody."""

from __future__ import annotations

from moldau.instants import LAST_MS, format_instant
from moldau.reading.health.freshness import held_words, stale_words
from moldau.reading.health.status import lock_holder, open_loads
from moldau.serving.page import Asked, Page, Tile, Words
from moldau.serving.question import Answer, Once, Question, instant
from moldau.warehouse.aside import in_words, read_aside

_DAY_MS = 86_400_000
_TICK_MS = 60_000  # the clock of a page is set back to the minute
_HOUR_US = 3_600_000_000
_ROWS = 10


def overview(asked: Asked) -> Page:
    questions = _questions(asked.at_ms)
    # what stays is found again when its own tables move, not with every run
    staying, others = [q for q in questions if q.once], [q for q in questions if not q.once]
    found = [answer for part in (staying, others) for answer in asked.reader.ask(part, asked.at_ms)]
    answers = {answer.question.name: answer for answer in found}
    failed = (answers["failed_runs"], answers["failed_calls"])
    told = _told(asked, answers["freshness"].as_dicts(), failed)
    tiles = (
        _tile("group loses", "groups lose", "offsets within a day", answers["lost"]),
        _tile("group is", "groups are", "held", answers["held"]),
        _tile("group", "groups", "cannot fail over", answers["not_ready"]),
        _tile("partition is", "partitions are", "behind in tiering", answers["behind"]),
        Tile(
            "thing needs attention" if len(told.lines) == 1 else "things need attention",
            len(told.lines),
            told.name,
            is_good=not told.lines,
        ),
    )
    return Page(
        "Overview",
        "What is lost next, what is held, what is behind, and what needs somebody.",
        (
            answers["lost_by_hour"],
            answers["lost"],
            answers["held"],
            answers["kept"],
            answers["not_ready"],
            answers["behind"],
            told,
            answers["failed_runs"],
            answers["failed_calls"],
            answers["came_in"],
            answers["freshness"],
        ),
        tiles,
    )


def _tile(one: str, several: str, what: str, answer: Answer) -> Tile:
    count = None if answer.problem else answer.in_all
    label = f"{one if count == 1 else several} {what}"
    return Tile(label, count, answer.question.name, is_good=count == 0)


def _told(asked: Asked, freshness: list[dict[str, object]], failed: tuple[Answer, ...]) -> Words:
    """What `moldau status` says, then what sections below list."""
    warehouse = asked.reader.warehouse
    lock = lock_holder(warehouse)
    lines = [
        *(
            f"Load {run_id} was interrupted: the next command that writes finishes it."
            for run_id in (() if lock else open_loads(warehouse))
        ),
        *(f"Set aside: {in_words(entry)}." for entry in read_aside(warehouse)),
        *(f"{words[0].upper()}{words[1:]}." for words in held_words(freshness)),
        *(f"{words[0].upper()}{words[1:]}." for words in stale_words(freshness)),
    ]
    below = [
        f"{answer.question.title}: {answer.in_all}, listed below."
        for answer in failed
        if answer.rows
    ]
    command = "" if below else "moldau status"
    return Words("attention", "What needs attention", (*lines, *below), command)


def _questions(at_ms: int) -> list[Question]:
    steps = (0, _DAY_MS, -_DAY_MS, _TICK_MS)
    now, tomorrow, yesterday, soonest = (instant(min(at_ms + step, LAST_MS)) for step in steps)
    due = Once(
        "due",
        """select cluster_id, group_id, expires_at, count(*) as offsets
from marts.expiry_calendar
where decision = 'expire' or blocked_by = 'time'
group by cluster_id, group_id, expires_at""",
        stays=True,
    )
    groups_due = Once(
        "groups_due",
        """select cluster_id, group_id, min(expires_at) as first_expires_at
from due
group by cluster_id, group_id""",
        stays=True,
    )
    held = Once(
        "held",
        f"""select
    cluster_id, group_id, deferred_since, failed_attempts, last_outcome, last_plugin_message,
    last_failed_at, count(*) over () as in_all
from marts.deferred_groups
order by deferred_since, cluster_id, group_id limit {_ROWS}""",
        stays=True,
    )
    kept = Once(
        "kept",
        """select cluster_id, blocked_by, count(*) as groups
from marts.cleanup_preview where blocked_by is not null
group by cluster_id, blocked_by""",
        stays=True,
    )
    until = format_instant(min(at_ms + _DAY_MS, LAST_MS))
    return [
        Question(
            "lost_by_hour",
            "Offsets that expire, hour by hour",
            f"""select
    make_timestamptz(epoch_us(greatest(expires_at, {now})) // {_HOUR_US} * {_HOUR_US}) as hour_at,
    sum(offsets)::bigint as offsets
from due where expires_at <= {tomorrow}
group by hour_at order by hour_at""",
            f"No offset expires until {until}.",
            once=(due,),
            shown="columns",
            about="What is overdue is removed by the next sweep, and counts in the first hour.",
        ),
        Question(
            "lost",
            "What is lost in the next day",
            f"""select
    cluster_id, group_id, sum(offsets)::bigint as offsets, first_expires_at,
    max(expires_at) as last_expires_at,
    (select count(*) from groups_due where first_expires_at <= {tomorrow}) as in_all
from (
    select * from groups_due where first_expires_at <= {tomorrow}
    order by first_expires_at, cluster_id, group_id limit {_ROWS}
)
inner join due using (cluster_id, group_id)
where expires_at <= {tomorrow}
group by cluster_id, group_id, first_expires_at
order by first_expires_at, cluster_id, group_id""",
            f"No offset expires until {until}.",
            once=(due, groups_due),
        ),
        Question(
            "held",
            "Groups that are held",
            "select * from held order by deferred_since, cluster_id, group_id",
            "No group waits for its topology description to be deleted.",
            once=(held,),
            about="Their topology description has to be deleted before they are.",
        ),
        Question(
            "kept",
            "Why groups stay",
            f"""select *, count(*) over () as in_all from kept
order by groups desc, cluster_id, blocked_by limit {_ROWS}""",
            "No decision keeps one: `moldau sweep --dry-run` decides.",
            once=(kept,),
        ),
        Question(
            "not_ready",
            "Mirrors that are not ready",
            f"""select
    flow, group_id, partitions, translated, blocked_by_reason, advice, target_group_state,
    decided_at, count(*) over () as in_all
from marts.failover_readiness where not is_ready
order by partitions - translated desc, flow, group_id limit {_ROWS}""",
            "Every group that is mirrored could go on in the other cluster.",
        ),
        Question(
            "behind",
            "Tiers that are behind",
            f"""select
    cluster_id, topic_name, partition_index, upload_tier_lag, upload_lag_bytes,
    oldest_pending_upload_at, delete_tier_lag, delete_lag_bytes, count(*) over () as in_all
from marts.tier_lag where upload_tier_lag > 0 or delete_tier_lag > 0
order by upload_lag_bytes desc nulls last, delete_lag_bytes desc nulls last,
    cluster_id, topic_name, partition_index
limit {_ROWS}""",
            "Nothing waits to be uploaded or deleted.",
        ),
        Question(
            "failed_runs",
            "Runs of the last day that did not succeed",
            f"""select run_id, kind, cluster_ids, status, finished_at_ms, count(*) over () as in_all
from state.runs
where status <> 'succeeded' and finished_at_ms between {at_ms - _DAY_MS} and {at_ms + _TICK_MS}
order by run_id desc limit {_ROWS}""",
        ),
        Question(
            "failed_calls",
            "Plugin calls of the last day that failed",
            f"""select
    cluster_id, operation, outcome, count(*) as calls, max(finished_at) as last_at,
    max_by(message, finished_at) as last_message, count(*) over () as in_all
from marts.plugin_calls where outcome <> 'success' and finished_at between {yesterday} and {soonest}
group by cluster_id, operation, outcome order by last_at desc limit {_ROWS}""",
        ),
        Question(
            "came_in",
            "What came in last",
            f"""select run_id, kind, cluster_ids, finished_at_ms, counts
from state.runs where kind in ('load', 'ingest', 'collect')
order by run_id desc limit {_ROWS}""",
            "Nothing was loaded yet.",
        ),
        Question(
            "freshness",
            "How fresh what is known is",
            """select
    cluster_id, topic_name, known_up_to_at, age_ms, is_stale, offsets_behind, held_by,
    held_partition_count, held_partition_index
from marts.freshness order by cluster_id, topic_name""",
            "No running cluster is read.",
            hidden=("held_partition_count", "held_partition_index"),
        ),
    ]
