"""What is decided about whom and why, and how that changed."""

from __future__ import annotations

from dataclasses import replace

from moldau.declared import domains
from moldau.runs.past.source import About
from moldau.serving.page import Asked, Field, Page, all_of, equal
from moldau.serving.past import as_it_was
from moldau.serving.question import Answer, Once, Question, text

_ROWS = 100
_COLUMNS = {
    "domain": "domain",
    "cluster": "cluster_id",
    "subject": "subject",
    "group": "group_id",
    "decision": "decision",
    "reason": "reason_code",
    "run": "run_id",
}


def decisions(asked: Asked) -> Page:
    """`as_of`: what was decided about groups at an instant."""
    given = asked.given
    about = About(given.get("cluster") or None, given.get("group") or None)
    # runs that rebuild it are none that anybody could look up
    return as_it_was(asked, about, _decisions, ("history", "run_id"))


def _decisions(asked: Asked) -> Page:
    narrowed = {name for name in _COLUMNS if asked.given.get(name)}
    given = asked.given
    where = all_of([*equal(asked, _COLUMNS), *_that_name(given.get("subject", ""))])
    of_history = all_of([*_of_history(asked), *_about(given.get("group", ""))])
    # few rows are found once, the list and the counts are both of them
    is_few = bool(narrowed & {"subject", "group"})
    by_reason, history, listed = _questions(where, of_history, is_few)
    # all of a million groups are more than a page is for
    questions = [listed, history, by_reason] if narrowed - {"domain", "cluster"} else [by_reason]
    return Page(
        "Decisions",
        "What is decided about whom and why, and how that changed.",
        tuple(map(_cut, asked.reader.ask(questions, asked.at_ms))),
        fields=(
            Field("domain", "Domain", tuple(one.name for one in domains())),
            *(Field(name, name.capitalize()) for name in list(_COLUMNS)[1:]),
            Field("as_of", "As it was at"),
        ),
    )


def _cut(answer: Answer) -> Answer:
    """Of those that are all nothing else is said."""
    is_cut = len(answer.rows) == _ROWS
    return answer if is_cut else replace(answer, question=replace(answer.question, about=""))


def _of_history(asked: Asked) -> list[str]:
    return equal(asked, {name: column for name, column in _COLUMNS.items() if name != "group"})


def _that_name(subject: str) -> list[str]:
    """Where to look for a subject that has a group in its name."""
    kind, _, rest = subject.partition(" ")
    match kind:
        case "cleanup" | "sweep":
            return [f"group_id = {text(rest)}"]
        case "offset":
            return [f"contains({text(rest)}, group_id)"]
    return []


def _about(group: str) -> list[str]:
    """Of history, which has no column for it: no topic has a space in its name."""
    if not group:
        return []
    subjects = ", ".join(text(f"{kind} {group}") for kind in ("cleanup", "sweep"))
    first = f"offset {group} "
    of_offset = (
        f"(subject >= {text(first)} and subject < {text(first[:-1] + '!')} "
        f"and not contains(substr(subject, {len(first) + 1}), ' '))"
    )
    return [f"domain = 'groups' and (subject in ({subjects}) or {of_offset})"]


def _questions(where: str, of_history: str, is_few: bool) -> tuple[Question, Question, Question]:
    of_all = f"marts.decisions where {where}"
    once = (Once("found", f"select * from {of_all}"),) if is_few else ()
    found = once[0].name if once else of_all
    by_reason = Question(
        "by_reason",
        "By reason",
        f"""select
    domain, decision_table, decision, reason_code, any_value(reason_text) as reason_text,
    count(*) as decisions
from {found}
group by domain, decision_table, decision, reason_code
order by domain, decision_table, decisions desc, reason_code""",
        "Nothing is decided yet.",
        once=once,
    )
    history = Question(
        "history",
        "How they changed",
        f"""select
    domain, cluster_id, subject, decision, reason_code, reason_text, previous_decision,
    previous_reason_code, decided_at, run_id
from marts.decision_history where {of_history}
order by run_id desc, subject limit {_ROWS}""",
        "Nothing changed.",
        about=f"The last {_ROWS}.",
        hidden=("reason_text",),
    )
    listed = Question(
        "decisions",
        "Decisions",
        f"""select
    domain, cluster_id, subject, decision, reason_code, reason_text, previous_decision, ruleset,
    decided_at, run_id
from {found}
order by domain, cluster_id, subject limit {_ROWS}""",
        "No decision fits.",
        about=f"The first {_ROWS}: all are counted by reason.",
        once=once,
        hidden=("reason_text",),
    )
    return by_reason, history, listed
