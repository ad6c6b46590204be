with

tombstones as (

    select * from {{ source('history', 'tombstones') }}

),

renamed as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        run_id,
        ruleset,
        group_type,
        has_plugin,
        removed_by,
        committed_offset,
        decided_at_ms,
        removed_at_ms

    from tombstones

)

select * from renamed
