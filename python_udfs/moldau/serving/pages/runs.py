"""What commands did to the warehouse, the last first."""

from __future__ import annotations

from moldau.serving.page import Asked, Field, Page, all_of, equal, place_of
from moldau.serving.question import Question

ROWS = 50


def runs(asked: Asked) -> Page:
    place = place_of(asked)
    where = all_of(equal(asked, {"kind": "kind"}))
    answers = asked.reader.ask(_questions(where, place), asked.at_ms)
    return Page(
        "Runs",
        "What commands did to the warehouse, the last first.",
        tuple(answers),
        fields=(Field("kind", "Kind"),),
        page=place,
        has_next=place * ROWS < answers[-1].in_all,
    )


def _questions(where: str, place: int) -> list[Question]:
    return [
        Question(
            "last",
            "The last run of each kind",
            """select kind, run_id, cluster_ids, status, is_dry_run, decided_at, finished_at, engine
from marts.last_run order by finished_at desc""",
            "No run yet.",
        ),
        Question(
            "runs",
            "All runs",
            f"""select
    run_id, kind, cluster_ids, status, is_dry_run, engine, decided_at_ms, started_at_ms,
    finished_at_ms - started_at_ms as took_ms, counts, count(*) over () as in_all
from state.runs where {where}
order by run_id desc limit {ROWS} offset {(place - 1) * ROWS}""",
            "No run fits.",
        ),
    ]
