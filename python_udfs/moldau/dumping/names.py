"""Kafka's names of client properties, grouped by how `dump` treats them."""

from __future__ import annotations

# mean the same to librdkafka; the name there
PASSED_ON = {
    "client.id": "client.id",
    "client.dns.lookup": "client.dns.lookup",
}

# translated one by one
_READ = """
    bootstrap.servers security.protocol sasl.mechanism sasl.jaas.config
    sasl.oauthbearer.token.endpoint.url sasl.oauthbearer.scope
    sasl.oauthbearer.client.credentials.client.id sasl.oauthbearer.client.credentials.client.secret
    sasl.login.callback.handler.class
    ssl.endpoint.identification.algorithm ssl.key.password
    ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.location ssl.keystore.password
    ssl.keystore.type ssl.truststore.certificates ssl.truststore.location ssl.truststore.password
    ssl.truststore.type
"""
READ = frozenset(_READ.split())

# what any Java client needs to log in
OF_A_LOGIN = (READ | PASSED_ON.keys()) - {"bootstrap.servers"}

# Java classes, for which there is no place here: with them the file cannot mean what it says
_REFUSED = """
    config.providers sasl.client.callback.handler.class sasl.login.class ssl.engine.factory.class
"""
REFUSED = frozenset(_REFUSED.split())

# of consumers, producers and admin clients (Kafka 4.4); nothing for one that only reads, once, and
# that gives up when the cluster is silent (--timeout)
_IGNORED = """
    acks allow.auto.create.topics auto.commit.interval.ms auto.include.jmx.reporter
    auto.offset.reset batch.size bootstrap.controllers bootstrap.resolve.timeout.ms buffer.memory
    buffer.memory.allocation.strategy check.crcs client.rack compression.gzip.level
    compression.lz4.level compression.type compression.zstd.level connections.max.idle.ms
    default.api.timeout.ms
    delivery.timeout.ms enable.auto.commit enable.idempotence enable.metrics.push
    exclude.internal.topics fetch.max.bytes fetch.max.wait.ms fetch.min.bytes group.id
    group.instance.id group.protocol group.remote.assignor heartbeat.interval.ms
    interceptor.classes isolation.level key.deserializer key.serializer linger.ms max.block.ms
    max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms
    max.poll.records max.request.size metadata.cluster.check.enable metadata.max.age.ms
    metadata.max.idle.ms metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy
    metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms
    partition.assignment.strategy partitioner.adaptive.partitioning.enable
    partitioner.availability.timeout.ms partitioner.class partitioner.ignore.keys
    partitioner.rack.aware receive.buffer.bytes reconnect.backoff.max.ms reconnect.backoff.ms
    request.timeout.ms retries retry.backoff.max.ms retry.backoff.ms
    sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin sasl.kerberos.service.name
    sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
    sasl.login.connect.timeout.ms sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds
    sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
    sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms
    send.buffer.bytes session.timeout.ms share.acknowledgement.mode share.acquire.mode
    socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms
    ssl.keymanager.algorithm ssl.secure.random.implementation ssl.trustmanager.algorithm
    transaction.timeout.ms transaction.two.phase.commit.enable transactional.id value.deserializer
    value.serializer
"""
IGNORED = frozenset(_IGNORED.split())
