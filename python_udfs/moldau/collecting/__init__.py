"""Collect what only an admin client or a broker's disk tells; nothing is written to the cluster.

Needs the extra `kafka`. Kafka's own requests are sent by kafka-python: librdkafka has no words for
the groups of all types, the epochs of leaders, the ends of tiers, and open transactions.
"""
