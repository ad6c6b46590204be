"""Resolve what a person asks about: a subject of marts.decisions, or a group with all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moldau.declared import domains
from moldau.declared.domain import Explained
from moldau.errors import MoldauError
from moldau.reading.explain.called import called_like
from moldau.reading.tables.query import Tables

_OFFSET_SUBJECT = "'offset ' || group_id || ' ' || topic_name || '-' || partition_index"


class NothingKnown(MoldauError):
    """Nothing has the name that was given."""


@dataclass(frozen=True)
class Subject:
    """What is asked about. `kinds`: cleanup, sweep, offset; with one offset, its key too."""

    cluster_id: str
    group_id: str
    kinds: tuple[str, ...]
    topic_name: str | None = None
    partition_index: int | None = None


def explained(
    warehouse: Path, text: str, cluster: str | None, at_ms: int | None = None
) -> Explained:
    """What the domain that knows it says of `text`; MoldauError if none does."""
    known = [domain.subjects for domain in domains() if domain.subjects]
    for one in sorted(known, key=lambda one: one.take_any_text):
        if found := one.explain(warehouse, text, cluster, at_ms):
            return found
    raise MoldauError(nothing_known(text))


def group_of(warehouse: Path, text: str, cluster: str | None) -> Subject:
    """The group that a subject is about, if it is one of groups; MoldauError else.

    Those of other domains, and requests, are decided about once or from other things than records
    of groups, and cannot be asked about as of another instant.
    """
    tables = Tables(warehouse, ["state.groups", "state.group_offsets"])
    try:
        return find_subject(tables, text, cluster)
    except MoldauError as error:
        word = text.split(" ", 1)[0]
        forms = {
            form.split(" ")[0] for one in domains() if one.subjects for form in one.subjects.forms
        }
        if word in forms - {"cleanup", "sweep", "offset"}:
            raise MoldauError(
                f"--as-of answers about groups and their offsets, not about `{word}`: give a group "
                "id, `cleanup GROUP`, `sweep GROUP` or `offset GROUP TOPIC-PARTITION`"
            ) from None
        raise error


def find_subject(tables: Tables, text: str, cluster: str | None) -> Subject:
    """What `text` names; a subject wins over a group that happens to be called like one.

    NothingKnown if nothing has that name; MoldauError if several clusters have it and none was
    chosen.
    """
    for kind in ("cleanup", "sweep"):
        group_id = text.removeprefix(f"{kind} ")
        if group_id != text and (found := _clusters_of(tables, group_id)):
            return Subject(one_cluster(found, text, cluster), group_id, (kind,))
    if text.startswith("offset "):
        offsets = tables.rows("state.group_offsets", f"where {_OFFSET_SUBJECT} = ?", [text])
        if offsets:
            return _offset(offsets, text, cluster)
    if found := _clusters_of(tables, text):
        return Subject(one_cluster(found, text, cluster), text, ("cleanup", "sweep", "offset"))
    raise NothingKnown(nothing_known(text, called_like(tables, name_in(text))))


def _clusters_of(tables: Tables, group_id: str) -> list[str]:
    groups = tables.rows("state.groups", "where group_id = ? order by cluster_id", [group_id])
    return [row["cluster_id"] for row in groups]


def one_cluster(clusters: list[str], text: str, wanted: str | None) -> str:
    """The one of the clusters, which all have `text`, that is meant; MoldauError if it is open."""
    listed = ", ".join(clusters)
    if wanted is not None:
        if wanted not in clusters:
            raise MoldauError(f"{text!r} is not in cluster {wanted!r}, but in {listed}")
        return wanted
    if len(clusters) > 1:
        raise MoldauError(f"{text!r} is in several clusters: choose one with --cluster ({listed})")
    return clusters[0]


def _offset(offsets: list[dict[str, Any]], text: str, cluster: str | None) -> Subject:
    chosen = one_cluster(sorted({row["cluster_id"] for row in offsets}), text, cluster)
    row = next(row for row in offsets if row["cluster_id"] == chosen)
    key = (row["topic_name"], row["partition_index"])
    return Subject(chosen, row["group_id"], ("offset",), *key)


def name_in(text: str) -> str:
    """The group of `cleanup GROUP`, and of anything else all of it."""
    words = text.split(" ", 1)
    return words[1] if words[0] in ("cleanup", "sweep", "offset") and len(words) > 1 else text


def nothing_decided(text: str, close: Iterable[str], otherwise: str) -> MoldauError:
    """`close`: subjects that the text may have meant; `otherwise`: what to do without any."""
    told = ", ".join(f"`{subject}`" for subject in close)
    hint = f"did you mean {told}?" if told else otherwise
    return MoldauError(f"nothing is decided about {text[:200]!r}: {hint}")


def nothing_known(text: str, close: Iterable[str] = ()) -> str:
    """What is said of a text that names nothing; `close`: names that it may have meant."""
    forms = [f"`{form}`" for one in domains() if one.subjects for form in one.subjects.forms]
    hint = ", ".join(repr(name[:100]) for name in close)
    return (
        f"nothing is known about {text[:200]!r}: give a group id, {', '.join(forms[:-1])} "
        f"or {forms[-1]}" + (f"; did you mean {hint}?" if hint else "")
    )
