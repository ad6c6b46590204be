"""What Kafka's converter takes, ignores and refuses: spec 1, section 6, cases 104 to 110."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moldau.topologies.description import (
    InvalidTopology,
    TopologyDescription,
    from_wire,
    to_wire,
)


def node(number: Any, name: str, *successors: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "nodeType": number, "successors": list(successors)} | more


def of(*nodes: dict[str, Any], stores: list[Any] | None = None) -> dict[str, Any]:
    parts = [{"subtopologyId": "0", "nodes": list(nodes)}] if nodes else []
    return {"subtopologies": parts, "globalStores": stores or []}


CASE_104 = of(
    node(1, "src", "proc-1", "proc-2", sourceTopics=["topic-a", "topic-b"]),
    node(2, "proc", "sink", stores=["store-x", "store-y"]),
    node(3, "sink", sinkTopic="out-topic"),
)
GLOBAL = {"source": node(1, "g-src", "g-proc"), "processor": node(2, "g-proc")}


def test_104_three_typed_nodes_in_the_same_order_everywhere() -> None:
    source, processor, sink = from_wire(CASE_104).subtopologies[0].nodes
    assert (source.type, source.topics, source.successors) == (
        "source", ("topic-a", "topic-b"), ("proc-1", "proc-2"),
    )  # fmt: skip
    assert (processor.type, processor.stores) == ("processor", ("store-x", "store-y"))
    assert (sink.type, sink.topic, sink.successors) == ("sink", "out-topic", ())


def test_106_a_global_store_is_a_source_and_a_processor() -> None:
    [store] = from_wire(of(stores=[GLOBAL])).global_stores
    assert (store.source.name, store.processor.name) == ("g-src", "g-proc")


@pytest.mark.parametrize("number", [99, 0, None, "1", 1.0, True])
def test_107_another_node_type_is_refused(number: Any) -> None:
    told = "None" if number is None else number
    with pytest.raises(InvalidTopology, match=f"^Unknown topology node type: {told}$"):
        from_wire(of(node(number, "n")))


def test_107_an_unset_node_type_is_0() -> None:
    with pytest.raises(InvalidTopology, match=r"^Unknown topology node type: 0$"):
        from_wire(of({"name": "n"}))


@pytest.mark.parametrize(
    ("source", "processor"), [(2, 2), (1, 3), (1, 1), (0, 2), (3, 99), (True, 2)]
)
def test_a_global_store_of_others_is_refused(source: int, processor: int) -> None:
    store = {"source": node(source, "a"), "processor": node(processor, "b")}
    with pytest.raises(InvalidTopology) as refused:
        from_wire(of(stores=[store]))
    expected = "Global store must be composed of a source and a processor node."
    assert str(refused.value) == expected


def test_109_nothing_is_a_topology() -> None:
    assert from_wire(of()) == from_wire({}) == TopologyDescription()


def test_110_names_come_once_where_they_were_first() -> None:
    [source] = from_wire(of(node(1, "s", "y", "x", "y", sourceTopics=["a", "b", "a"])))\
        .subtopologies[0].nodes  # fmt: skip
    assert (source.topics, source.successors) == (("a", "b"), ("y", "x"))


def test_fields_of_other_types_are_ignored() -> None:
    odd = {"stores": ["s"], "sinkTopic": "t", "sourceTopics": ["a"]}
    nodes = from_wire(of(*(node(n, str(n), **odd) for n in (1, 2, 3)))).subtopologies[0].nodes
    assert [(it.topics, it.stores, it.topic) for it in nodes] == [
        (("a",), (), None), ((), ("s",), None), ((), (), "t"),
    ]  # fmt: skip


def test_a_sink_without_a_topic_stays_without() -> None:
    told = to_wire(from_wire(of(node(3, "s"))))
    assert told["subtopologies"][0]["nodes"][0]["sinkTopic"] is None


@pytest.mark.parametrize(
    "payload",
    [
        {"subtopologies": 1},
        {"subtopologies": ["x"]},
        {"subtopologies": [{"subtopologyId": 3}]},
        of(node(1, "s", sourceTopics=[None])),
        of(node(1, "s", sourceTopics="abc")),
        of(node(3, "s", sinkTopic={"name": "t"})),
        of(stores=[{"source": node(1, "s")}]),
    ],
)
def test_what_is_no_description_is_refused_in_a_sentence(payload: Any) -> None:
    with pytest.raises(InvalidTopology, match="is not a"):
        from_wire(payload)


NAMES = st.lists(st.text(max_size=4), max_size=4)
NODES = st.builds(
    lambda number, name, topics, stores, topic, successors: node(
        number, name, *successors, sourceTopics=topics, stores=stores, sinkTopic=topic
    ),
    st.sampled_from([1, 2, 3]), st.text(max_size=4), NAMES, NAMES, st.none() | st.text(), NAMES,
)  # fmt: skip


@given(st.lists(NODES, max_size=5), st.booleans())
def test_what_a_plugin_stored_comes_back(nodes: list[Any], has_store: bool) -> None:
    description = from_wire(of(*nodes, stores=[GLOBAL] * has_store))
    assert from_wire(to_wire(description)) == description


@pytest.mark.parametrize("stored", [None, "text", [], {"subtopologies": [{"nodes": [{}]}]}])
def test_what_a_plugin_gives_back_may_be_no_description(stored: Any) -> None:
    with pytest.raises(InvalidTopology):
        from_wire(stored)
