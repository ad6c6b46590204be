"""The topology of a streams group as a graph: the cluster's plugin is asked for it."""

from __future__ import annotations

from moldau.reading.explain.topology import describe_topology
from moldau.serving.page import Asked, Page, Words
from moldau.serving.pages.group import address_of, key_of
from moldau.topologies.as_text import as_text
from moldau.topologies.findings import findings


def topology(asked: Asked) -> Page:
    cluster, name = key_of(asked)
    told = describe_topology(asked.settings, name, cluster)
    lines = [f"Status: {told.status}, topology epoch {told.topology_epoch}."]
    lines += [f"Because: {told.reason}."] if told.reason else []
    if not told.has_plugin:
        lines.append("The settings of the cluster name no plugin, and without one Kafka asks none.")
    sections = [Words("status", "What is stored", tuple(lines), "moldau topology describe")]
    if told.description:
        odd = tuple(findings(told.description))
        sections += (
            [Words("findings", "What Kafka accepts though it could not run", odd)] if odd else []
        )
        sections.append(
            Words("text", "As Kafka's tool prints it", tuple(as_text(told.description).split("\n")))
        )
    return Page(
        f"Topology of {name}",
        f"Streams group of cluster {cluster}.",
        tuple(sections),
        link=("group", address_of(cluster, name), "The group"),
        topology=told.description,
    )
