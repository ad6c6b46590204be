"""Topology descriptions of streams groups: Kafka's wire shape, checked, and as text."""
