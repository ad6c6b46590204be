"""Topology descriptions of streams groups: Kafka's shape on the wire, and what a plugin stores."""
