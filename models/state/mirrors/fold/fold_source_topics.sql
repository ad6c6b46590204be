{{ config(
    tags=['fold_partition_states', 'fold_consumer_offsets'],
    unique_key=['cluster_id', 'topic_name', 'topic_id'],
    meta={
        'for_each': 'flows',
        'into': 'state.source_topics',
        'works_on': 'int_mirrors__flows_configured',
        'works_when': flow_is_folded(),
        'skips_no_rows': true,
        'matched_condition': differs([
            'first_seen_at_ms', 'last_seen_at_ms', 'first_committed_at_ms'
        ])
    }
) }}

-- depends_on: {{ ref('fold_mirrored_partitions') }}
-- depends_on: {{ ref('int_mirrors__flows_configured') }}

with

topics_seen as (

    select * from {{ ref('int_mirrors__source_topics_seen') }}

),

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

topics_changed as (

    select
        topics_seen.cluster_id,
        topics_seen.topic_name,
        topics_seen.topic_id,
        topics_seen.first_seen_at_ms,
        topics_seen.last_seen_at_ms,
        topics_seen.first_committed_at_ms,
        parameters.run_id as changed_in_run_id

    from topics_seen

    cross join parameters

    where
        not topics_seen.first_seen_at_ms <=> topics_seen.stored_first_seen_at_ms
        or not topics_seen.last_seen_at_ms <=> topics_seen.stored_last_seen_at_ms
        or not topics_seen.first_committed_at_ms
        <=> topics_seen.stored_first_committed_at_ms

)

select * from topics_changed
