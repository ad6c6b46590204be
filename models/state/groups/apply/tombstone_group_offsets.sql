{{ config(
    tags='apply_sweep',
    unique_key=['cluster_id', 'group_id', 'topic_name', 'partition_index'],
    meta={
        'into': 'state.group_offsets',
        'matched_condition': 'not t.is_deleted'
            ~ ' and t.commit_log_offset = s.observed_log_offset',
        'update_set': {
            'is_deleted': 'true',
            'deleted_by': "'sweep'",
            'deleted_at_ms': 'unix_millis(current_timestamp())',
            'deleted_run_id': 's.run_id',
            'changed_in_run_id': 's.run_id'
        },
        'insert_when': false
    }
) }}

-- depends_on: {{ ref('int_groups__decided') }}

with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

    where is_applied

),

offset_expirations as (

    select * from {{ ref('int_groups__offset_expirations_decided') }}

    where decision = 'expire'

),

offsets_expired as (

    select
        offset_expirations.cluster_id,
        offset_expirations.group_id,
        offset_expirations.topic_name,
        offset_expirations.partition_index,
        clusters.run_id,
        offset_expirations.observed_log_offset

    from offset_expirations

    inner join clusters using (cluster_id)

)

select * from offsets_expired
