"""By which settings the brokers of a cluster clean up groups, as moldau.yml would name them."""

from __future__ import annotations

from kafka.protocol.admin import DescribeConfigsRequest

from moldau.collecting.asker import Asker, error_name

KEYS = (
    "offsets.retention.minutes",
    "offsets.retention.check.interval.ms",
    "group.streams.topology.description.plugin.class",
)
_BROKER = 4  # ConfigResource.Type


def clean_up_settings(asker: Asker) -> tuple[dict[str, str], list[str]]:
    """Kafka's names and values, and a line where the client may not DESCRIBE_CONFIGS the cluster.

    One broker is asked for all. A key that it does not know, or has no value of, is left out.
    """
    broker_id = asker.broker_ids[0]
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=_BROKER, resource_name=str(broker_id), configuration_keys=list(KEYS)
    )
    request = DescribeConfigsRequest(resources=[resource], min_version=1)
    [told] = asker.ask(request, broker_id).results
    if told.error_code:
        error = error_name(told.error_code)
        return {}, [
            f"the cluster: {error} (DESCRIBE_CONFIGS); its clean-up is foretold by Kafka's "
            "defaults, without a plugin"
        ]
    values = {each.name: each.value for each in told.configs}
    return {key: values[key] for key in KEYS if values.get(key)}, []
