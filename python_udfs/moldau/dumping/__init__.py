"""Dump a topic of a running cluster to a file for `load`; nothing is written to the cluster.

Needs the extra `kafka`: librdkafka as confluent-kafka, no JVM.
"""
