with

gauges_by_topic as (

    select * from {{ ref('kafka_gauges_by_topic') }}

),

kafka_gauges_by_broker as (

    select
        cluster_id,
        broker_id,
        metric_name,
        sum(kafka_value) as kafka_value,
        if(bool_or(moldau_value is null), null, sum(moldau_value))
            as moldau_value,
        if(bool_or(difference is null), null, sum(difference)) as difference,
        sum(partitions_that_differ) as partitions_that_differ,
        array_sort(array_distinct(flatten(collect_list(causes)))) as causes

    from gauges_by_topic

    group by
        cluster_id,
        broker_id,
        metric_name

)

select * from kafka_gauges_by_broker
