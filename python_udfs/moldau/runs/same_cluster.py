"""Whether a cluster is the one that its name stands for: by the id of the topic of its groups."""

from __future__ import annotations

from pathlib import Path

from moldau.errors import MoldauError
from moldau.warehouse.ask import ask_rows, sql_text
from moldau.warehouse.create import is_initialised

OFFSETS = "__consumer_offsets"
# what was read tells more than what was looked at
_TABLES = ("state.log_positions", "state.partition_states")


def require_same_cluster(warehouse: Path, cluster_id: str, topic_id: str | None) -> None:
    """`topic_id` of its __consumer_offsets: "" = it has none, null = the client may not see that.

    MoldauError where the warehouse knows another id.
    """
    refuse_another(offsets_id(warehouse, cluster_id), topic_id, cluster_id)


def refuse_another(known: str | None, topic_id: str | None, cluster_id: str) -> None:
    """MoldauError if both ids are known, and differ."""
    if known is None or topic_id is None or topic_id == known:
        return
    now = f"has the id {topic_id} now" if topic_id else "is not there"
    raise created_anew(f"{OFFSETS} {now}, and had {known}", cluster_id)


def offsets_id(warehouse: Path, cluster_id: str) -> str | None:
    """The id that __consumer_offsets had when it was last read, or looked at; null = never."""
    if not is_initialised(warehouse):
        return None
    of_topic = f"cluster_id = {sql_text(cluster_id)} and topic_name = {sql_text(OFFSETS)}"
    for table in _TABLES:
        sql = f"select max(topic_id) from t where {of_topic}"
        [(topic_id,)] = ask_rows(warehouse, table, sql)
        if topic_id:
            return str(topic_id)
    return None


def created_anew(what: str, cluster_id: str) -> MoldauError:
    return MoldauError(
        f"{what}: it was created anew or cut, or this is another cluster. What is known of "
        f"{cluster_id} stays as it is; give the new one another name than {cluster_id}"
    )
