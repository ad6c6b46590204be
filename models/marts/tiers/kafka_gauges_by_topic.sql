with

gauge_comparison as (

    select * from {{ ref('kafka_gauge_comparison') }}

    where kafka_value is not null

),

kafka_gauges_by_topic as (

    select
        cluster_id,
        broker_id,
        topic_id,
        metric_name,
        topic_name,
        sum(kafka_value) as kafka_value,
        if(bool_or(moldau_value is null), null, sum(moldau_value))
            as moldau_value,
        if(bool_or(difference is null), null, sum(difference)) as difference,
        count_if(not is_equal) as partitions_that_differ,
        array_sort(array_distinct(flatten(collect_list(causes)))) as causes

    from gauge_comparison

    group by
        cluster_id,
        broker_id,
        topic_id,
        metric_name,
        topic_name

)

select * from kafka_gauges_by_topic
