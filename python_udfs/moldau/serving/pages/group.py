"""One group: why it is treated as it is, its past, its offsets, its topology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from moldau.errors import MoldauError
from moldau.reading.explain.groups import READ, START_POSITIONS, explain_subject
from moldau.reading.explain.groups_words import in_words
from moldau.reading.tables.query import Tables
from moldau.runs.past.source import About
from moldau.serving.page import Asked, Field, Page, Words
from moldau.serving.past import as_of_ms_of
from moldau.serving.question import Answer, Question, instant, text
from moldau.warehouse.contracts import marts

_ROWS = 200
TIMELINE = "marts.group_timeline"
_EVER = "event_at is not null"
_THEN = ("facts", "timeline")  # mirrors are not rebuilt


def group(asked: Asked) -> Page:
    """`cluster` and `group`, or `group_md5`, the digest of a name that no address can hold.

    `as_of`: as it was at an instant, rebuilt from the records up to it."""
    cluster, name = key_of(asked)
    link = ("topology", address_of(cluster, name), "Its topology")
    if (as_of_ms := as_of_ms_of(asked.given)) is None or asked.past is None:
        sections = _asked(asked, cluster, name, _questions(cluster, name))
        lead, has_link = f"Group of cluster {cluster}.", _is_streams(sections)
    else:
        with asked.past.of(asked, as_of_ms, About(cluster, name)) as (then, words):
            sections = _sections_then(then, cluster, name)
        lead, has_link = f"Group of cluster {cluster}, {words}.", False
    return Page(
        name,
        lead,
        sections,
        fields=(Field("as_of", "As it was at"),),
        kept=tuple(address_of(cluster, name)),
        link=link if has_link else None,
    )


def _sections_then(then: Asked, cluster: str, name: str) -> tuple[Answer | Words, ...]:
    """What happened later, and queries, which would be answered as it is now, are left out."""
    until = instant(then.at_ms)
    questions = [one for one in _questions(cluster, name) if one.name in _THEN]
    questions.insert(1, _offsets_then(cluster, name))
    questions = [
        replace(one, told="", sql=one.sql.replace(_EVER, f"event_at <= {until}"))
        for one in questions
    ]
    words, *answers = _asked(then, cluster, name, questions)
    is_known = any(isinstance(answer, Answer) and answer.rows for answer in answers)
    if isinstance(words, Words) and not is_known:
        words = replace(words, lines=("Nothing was known of it then.",))
    return (words, *answers)


def _asked(
    asked: Asked, cluster: str, name: str, questions: list[Question]
) -> tuple[Answer | Words, ...]:
    def explain(tables: Tables) -> list[str]:
        return list(in_words(explain_subject(asked.reader.warehouse, name, cluster, tables)))

    about = Question("explain", "Why", f"explain {text(name)} {text(cluster)}")
    reads = (*READ, START_POSITIONS)
    lines, answers = asked.reader.ask_of_group(
        (cluster, name), questions, asked.at_ms, about, explain, reads
    )
    told = f"moldau explain --cluster {cluster} GROUP"
    return (Words(about.name, about.title, lines, told), *answers)


def _is_streams(sections: tuple[Answer | Words, ...]) -> bool:
    return any(
        row.get("group_type") == "streams"
        for section in sections
        if isinstance(section, Answer)
        for row in section.as_dicts()
    )


def key_of(asked: Asked) -> tuple[str, str]:
    """Cluster and group that are asked about; MoldauError if there is none such."""
    cluster, name = asked.given.get("cluster", ""), asked.given.get("group")
    if "cluster" not in asked.given or not {"group", "group_md5"} & asked.given.keys():
        raise MoldauError("this page is about one group: cluster=… and group=… say which")
    digest = asked.given.get("group_md5", "")
    is_it = f"md5(group_id) = {text(digest)}" if name is None else f"group_id = {text(name)}"
    [found] = asked.reader.ask(
        [
            Question(
                "group",
                "Group",
                f"""select cluster_id, group_id from state.groups
where cluster_id = {text(cluster)} and {is_it} limit 1""",
            )
        ],
        asked.at_ms,
        is_latest=True,
    )
    if found.problem is not None:
        raise MoldauError(found.problem)
    if not found.rows:
        raise MoldauError(f"cluster {cluster[:100]!r} has no group {(name or digest)[:100]!r}")
    [(cluster, name)] = found.rows
    return cluster, name


def address_of(cluster: str, name: str) -> Mapping[str, str]:
    """What stands behind the ? of the group's address."""
    from hashlib import md5

    if len(name) <= 250:
        return {"cluster": cluster, "group": name}
    digest = md5(name.encode(errors="surrogatepass"), usedforsecurity=False).hexdigest()
    return {"cluster": cluster, "group_md5": digest}


def _questions(cluster: str, name: str) -> list[Question]:
    of_cluster, of_group = f"cluster_id = {text(cluster)}", f"group_id = {text(name)}"
    key = f"{of_cluster} and {of_group}"
    subjects = ", ".join(text(f"{kind} {name}") for kind in ("cleanup", "sweep"))
    found = [
        Question(
            "facts",
            "As it is",
            f"""select
    group_type, group_state, protocol_type, member_count, offset_count, group_epoch,
    topology_epoch, topology_description, last_commit_at, empty_since_at, deleted_at, deleted_by,
    subscribed_topics
from marts.groups where {key}""",
            shown="facts",
        ),
        Question(
            "lag",
            "How far behind it is",
            f"""select
    lag, trend, lag_seconds, records_to_read, partitions, unknown_partitions, worst_topic_name,
    worst_partition_index, worst_lag, lost_from_at, end_taken_at
from marts.group_lag_by_group where {key}""",
            "It has committed nothing.",
            shown="facts",
        ),
        Question(
            "offsets",
            "Offsets, with lag and expiry",
            f"""with lag as (

    select * from marts.group_lag where {key}

),

calendar as (

    select * from marts.expiry_calendar where {key}

)

select
    lag.topic_name, lag.partition_index, lag.committed_offset, lag.lag, lag.records_to_read,
    lag.status, lag.committed_at, calendar.expires_at, calendar.blocked_by, lag.end_taken_at,
    count(*) over () as in_all
from lag
left join calendar
    on lag.topic_name = calendar.topic_name and lag.partition_index = calendar.partition_index
order by lag.lag desc nulls last, lag.topic_name, lag.partition_index limit {_ROWS}""",
            "It has committed nothing.",
        ),
        Question(
            "decisions",
            "How decisions about it changed",
            f"""select
    subject, decision, reason_code, reason_text, previous_decision, decided_at, run_id,
    count(*) over () as in_all
from marts.decision_history
where domain = 'groups' and {of_cluster} and subject in ({subjects})
order by run_id desc, subject limit {_ROWS}""",
            "Nothing was decided about it yet.",
            hidden=("reason_text",),
        ),
        Question(
            "calls",
            "Plugin calls",
            f"""select
    operation, topology_epoch, outcome, message, started_at, duration_ms, run_id,
    count(*) over () as in_all
from marts.plugin_calls where {key} order by started_at desc limit {_ROWS}""",
            "No plugin was called about it.",
        ),
        Question(
            "mirrored",
            "Where it would be in other clusters",
            f"""select
    flow, topic_name, partition_index, upstream_offset, translated_offset, lower_bound,
    upper_bound, reread_max, decision, reason_code, reason_text, count(*) over () as in_all
from marts.offset_translations where source_{of_cluster} and {of_group}
order by flow, topic_name, partition_index limit {_ROWS}""",
            "It is mirrored to no other cluster.",
            hidden=("reason_text",),
        ),
    ]
    if TIMELINE in marts():
        found.insert(3, _timeline(key))
    return found


def _offsets_then(cluster: str, name: str) -> Question:
    """Ends of logs are not rebuilt, so there is no lag."""
    key = f"cluster_id = {text(cluster)} and group_id = {text(name)}"
    return Question(
        "offsets",
        "Offsets, with expiry",
        f"""with offsets as (

    select * from marts.group_offsets where {key} and not is_deleted

),

calendar as (

    select * from marts.expiry_calendar where {key}

)

select
    offsets.topic_name, offsets.partition_index, offsets.committed_offset, offsets.committed_at,
    calendar.expires_at, calendar.blocked_by, count(*) over () as in_all
from offsets
left join calendar
    on offsets.topic_name = calendar.topic_name
    and offsets.partition_index = calendar.partition_index
order by offsets.topic_name, offsets.partition_index limit {_ROWS}""",
        "It had committed nothing.",
    )


def _timeline(key: str) -> Question:
    return Question(
        "timeline",
        "What happened to it",
        f"""select
    event_at, event, topic_name, partition_index, value_name, value_before, value_after, cause,
    event_count, evidence_topic, evidence_partition, evidence_offset, count(*) over () as in_all
from {TIMELINE} where {key} and {_EVER} order by event_index desc limit {_ROWS}""",
        "No record of it was loaded.",
    )
