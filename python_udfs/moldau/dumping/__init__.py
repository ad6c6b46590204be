"""A topic of a running cluster as a file that `load` takes: read once, nothing written there.

Needs the extra `kafka`: librdkafka as confluent-kafka, no JVM.
"""
