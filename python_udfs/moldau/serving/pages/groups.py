"""All groups: searched, filtered, sorted, page by page."""

from __future__ import annotations

from moldau.errors import MoldauError
from moldau.runs.past.source import About
from moldau.serving.page import Asked, Field, Page, all_of, equal, place_of
from moldau.serving.past import as_it_was
from moldau.serving.question import Question, text

ROWS = 50
SORTS = {
    "name": "cluster_id, group_id",
    "next change": "group_sweeps.next_due_at_ms nulls last, cluster_id, group_id",
    "offsets to expire": "offsets_to_expire desc nulls last, cluster_id, group_id",
    "members": "member_count desc nulls last, cluster_id, group_id",
    "empty longest": "empty_since_at_ms nulls last, cluster_id, group_id",
}
TYPES = ("classic", "consumer", "share", "streams")
STATES = (
    "EMPTY", "STABLE", "ASSIGNING", "RECONCILING", "PREPARING_REBALANCE", "COMPLETING_REBALANCE",
    "NOT_READY",
)  # fmt: skip
SWEEPS = ("tombstone", "defer", "keep")

_OF_SWEEPS = ("next change", "offsets to expire")
_COLUMNS = {
    "cluster": "cluster_id",
    "type": "group_type",
    "state": "group_state",
    "next_sweep": "decision",
}


def groups(asked: Asked) -> Page:
    """`as_of`: as they were at an instant."""
    return as_it_was(asked, About(asked.given.get("cluster") or None), _groups)


def _groups(asked: Asked) -> Page:
    given = asked.given
    place = place_of(asked)
    wanted = _wanted(asked, _sort(asked) in _OF_SWEEPS)
    keys = f"""select cluster_id, group_id
{wanted}
order by {SORTS[_sort(asked)]}
limit {ROWS} offset {(place - 1) * ROWS}"""
    clusters = Question(
        "clusters",
        "Clusters",
        "select distinct cluster_id from state.settings where valid_to_ms is null order by all",
    )
    found, counted, known = asked.reader.ask(
        [
            Question("keys", "Keys", keys),
            Question("count", "Groups", f"select count(*) as in_all\n{_wanted(asked)}"),
            clusters,
        ],
        asked.at_ms,
    )
    [listed] = asked.reader.ask([_details(keys, found.rows)], asked.at_ms)
    in_all = counted.in_all
    is_narrowed = any(map(given.get, ("q", *_COLUMNS)))
    which = (" that fits" if in_all == 1 else " that fit") if is_narrowed else ""
    live = "live group" if in_all == 1 else "live groups"
    return Page(
        "Groups",
        "" if counted.problem else f"{in_all:,} {live}{which}.",
        (found if found.problem else listed,),
        fields=(
            Field("q", "Search"),
            Field("cluster", "Cluster", tuple(row[0] for row in known.rows)),
            Field("type", "Type", TYPES),
            Field("state", "State", STATES),
            Field("next_sweep", "Next sweep", SWEEPS),
            Field("sort", "Sort by", tuple(SORTS)),
            Field("as_of", "As they were at"),
        ),
        page=place,
        has_next=place * ROWS < in_all,
        in_all=None if counted.problem else in_all,
    )


def _sort(asked: Asked) -> str:
    """MoldauError if it is none of them."""
    told = asked.given.get("sort") or "name"
    if told not in SORTS:
        raise MoldauError(f"sort={told[:20]!r} is none of {', '.join(SORTS)}")
    return told


def _wanted(asked: Asked, is_sorted_by_sweeps: bool = False) -> str:
    """From where and which: of a million groups, by what stands in the tables."""
    given = asked.given
    conditions = ["not is_deleted", *equal(asked, _COLUMNS)]
    if words := given.get("q"):
        conditions.append(f"contains(lower(group_id), lower({text(words)}))")
    needs_sweeps = given.get("next_sweep") or is_sorted_by_sweeps
    sweeps = "\nleft join decisions.group_sweeps using (cluster_id, group_id)"
    return f"from state.groups{sweeps if needs_sweeps else ''}\nwhere {all_of(conditions)}"


def _details(keys: str, found: tuple[tuple[str, str], ...]) -> Question:
    """The rows of one page, by the keys that were found: the mart need not be sorted whole."""
    columns = """    cluster_id, group_id, group_type, group_state, next_cycle, next_sweep,
    offsets_to_expire, offsets_left, blocked_by, next_change_at, decided_at"""
    places = (
        ", ".join(
            f"({place}, {text(cluster)}, {text(group)})"
            for place, (cluster, group) in enumerate(found)
        )
        or "(0, '', '')"
    )
    names = ", ".join(sorted({text(group) for _, group in found})) or "''"
    from_clusters = ", ".join(sorted({text(cluster) for cluster, _ in found})) or "''"
    return Question(
        "groups",
        "Groups",
        f"""select
{columns}
from marts.cleanup_preview
inner join (values {places}) as wanted (place, cluster_id, group_id) using (cluster_id, group_id)
where cluster_id in ({from_clusters}) and group_id in ({names})
order by place""",
        "No group fits.",
        told=f"""with wanted as (

{keys}

)

select
{columns}
from marts.cleanup_preview
inner join wanted using (cluster_id, group_id)""",
    )
