"""What is printed of a topology: spec 1, section 9.3, cases 181 to 184."""

from __future__ import annotations

from moldau.topologies.as_text import as_dot, as_mermaid, as_text
from moldau.topologies.description import (
    GlobalStore,
    Node,
    Subtopology,
    TopologyDescription,
)
from moldau.topologies.findings import findings

SOURCE = Node("source", "source", ("processor",), topics=("input",))
PROCESSOR = Node("processor", "processor", ("output",), stores=("store",))
SINK = Node("sink", "output", topic="output")
PLAIN = TopologyDescription((Subtopology("0", (SOURCE, PROCESSOR, SINK)),))


def store(number: int) -> GlobalStore:
    source = Node("source", f"g{number}", (f"p{number}",), topics=("t",))
    return GlobalStore(source, Node("processor", f"p{number}", stores=(f"s{number}",)))


def test_181_source_processor_sink() -> None:
    assert as_text(PLAIN) == (
        "Topologies:\n"
        "   Sub-topology: 0\n"
        "    Source: source (topics: [input])\n"
        "      --> processor\n"
        "    Processor: processor (stores: [store])\n"
        "      --> output\n"
        "      <-- source\n"
        "    Sink: output (topic: output)\n"
        "      <-- processor\n"
        "\n"
    )


def test_182_global_stores_are_numbered_after_the_subtopologies() -> None:
    def of(number: int, place: int) -> str:
        return (
            f"   Sub-topology: {place} for global store (will not generate tasks)\n"
            f"    Source: g{number} (topics: [t])\n"
            f"      --> p{number}\n"
            f"    Processor: p{number} (stores: [s{number}])\n"
            "      --> none\n"
            f"      <-- g{number}\n"
            "\n"
        )

    stores = (store(0), store(1))
    text = as_text(TopologyDescription(global_stores=stores))
    assert text == "Topologies:\n" + of(0, 0) + of(1, 1)
    text = as_text(TopologyDescription(PLAIN.subtopologies, stores))
    assert text == as_text(PLAIN) + of(0, 1) + of(1, 2)


def test_184_nothing_beside_a_node_and_no_node_at_all() -> None:
    alone = Node("processor", "alone")
    assert as_text(TopologyDescription((Subtopology("7", (alone,)),))) == (
        "Topologies:\n   Sub-topology: 7\n    Processor: alone (stores: [])\n"
        "      --> none\n      <-- none\n\n"
    )
    assert as_text(TopologyDescription()) == "Topologies:\n"


def test_names_are_sorted_and_a_dynamic_sink_has_no_topic() -> None:
    nodes = (
        Node("source", "b", ("z", "y"), topics=("t2", "t1")),
        Node("source", "a", ("z",)),
        Node("sink", "z"),
    )
    text = as_text(TopologyDescription((Subtopology("0", nodes),)))
    for line in ("(topics: [t1, t2])", "--> y, z", "Sink: z (topic: null)", "<-- a, b"):
        assert line in text


def test_names_that_mean_something_elsewhere_stay_names() -> None:
    nodes = (Node("source", 'a"]<b>#', ("c;\n",)), Node("sink", "c;\n"))
    drawn = TopologyDescription((Subtopology('0"', nodes),), (store(0),))
    mermaid, dot = as_mermaid(drawn), as_dot(drawn)
    assert '    n0_0(["a#quot;]#lt;b#gt;#35;"])\n' in mermaid
    assert "    n0_0 --> n0_1\n" in mermaid
    assert "    n1_0 --> n1_1\n" in mermaid
    assert '    n0_0 [shape=ellipse, label="a\\"]<b>#"];\n' in dot
    assert '    n0_1 [shape=parallelogram, label="c;\\n"];\n' in dot
    assert "    n1_0 -> n1_1;\n" in dot


def test_what_kafka_accepts_silently_is_found() -> None:
    assert findings(PLAIN) == []
    nodes = (
        Node("source", "s", ("a", "nowhere")),
        Node("processor", "a", ("b", "s")),
        Node("processor", "b", ("a",)),
        Node("sink", "o", ("b",)),
        Node("sink", "o"),
    )
    again = Subtopology("0", (Node("source", "s"),))
    found = findings(TopologyDescription((Subtopology("0", nodes), again)))
    assert found[0] == "subtopology '0' is there 2 times"
    for sentence in (
        "subtopology '0': node 'o' is there 2 times",
        "subtopology '0': 's' is followed by 'nowhere', which is no node",
        "subtopology '0': 'a' is followed by 's', which is a source",
        "subtopology '0': 'o' is a sink and is followed by nodes",
        "node 's' is in 2 subtopologies",
    ):
        assert sentence in found
    assert sum("a cycle of" in sentence for sentence in found) == 1


def test_global_stores_are_scopes_of_their_own() -> None:
    [found] = findings(TopologyDescription(global_stores=(store(0), store(0))))[:1]
    assert "is in 2 subtopologies" in found
