"""What is decided about whom and why, and how that changed."""

from __future__ import annotations

from moldau.declared import domains
from moldau.serving.pages.page import Asked, Field, Page, all_of, equal
from moldau.serving.question import Question

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
    narrowed = {name for name in _COLUMNS if asked.given.get(name)}
    where = all_of(equal(asked, _COLUMNS))
    of_history = all_of(equal(asked, {n: c for n, c in _COLUMNS.items() if n != "group"}))
    by_reason, history, listed = _questions(where, of_history)
    # all of a million groups are more than a page is for
    questions = [listed, history, by_reason] if narrowed - {"domain", "cluster"} else [by_reason]
    return Page(
        "Decisions",
        "What is decided about whom and why, and how that changed.",
        tuple(asked.reader.ask(questions, asked.at_ms)),
        fields=(
            Field("domain", "Domain", tuple(one.name for one in domains())),
            *(Field(name, name.capitalize()) for name in list(_COLUMNS)[1:]),
        ),
    )


def _questions(where: str, of_history: str) -> tuple[Question, Question, Question]:
    by_reason = Question(
        "by_reason",
        "By reason",
        f"""select
    domain, decision_table, decision, reason_code, any_value(reason_text) as reason_text,
    count(*) as decisions
from marts.decisions where {where}
group by domain, decision_table, decision, reason_code
order by domain, decision_table, decisions desc, reason_code""",
        "Nothing is decided yet.",
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
        hidden=("reason_text",),
    )
    listed = Question(
        "decisions",
        "Decisions",
        f"""select
    domain, cluster_id, subject, decision, reason_code, reason_text, previous_decision, ruleset,
    decided_at, run_id
from marts.decisions where {where}
order by domain, cluster_id, subject limit {_ROWS}""",
        "No decision fits.",
        hidden=("reason_text",),
    )
    return by_reason, history, listed
