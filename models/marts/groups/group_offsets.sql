with

state_group_offsets as (

    select * from {{ ref('stg_state__group_offsets') }}

),

group_offsets as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        topic_id,
        metadata,
        deleted_by,
        committed_offset,
        leader_epoch,
        is_deleted,
        is_readable,
        {{ instant('commit_at_ms') }} as committed_at,
        {{ instant('expire_at_ms') }} as explicit_expiry_at,
        {{ instant('deleted_at_ms') }} as deleted_at

    from state_group_offsets

)

select * from group_offsets
