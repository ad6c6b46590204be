with

records as (

    select * from {{ ref('stg_run__records') }}

    where group_id is not null

),

groups_touched as (

    select
        cluster_id,
        group_id,
        max(run_id) as run_id,
        max_by(partition_index, log_offset) as partition_index,
        {# an offset that was removed makes no group, so it does not count #}
        max(log_offset) filter (
            where record_type >= 2 or not is_tombstone
        ) as log_offset,
        coalesce(
            max(log_offset) filter (
                where record_type in (0, 1) and not is_tombstone
            ),
            -1
        ) as last_commit_log_offset,
        coalesce(
            max(log_offset) filter (
                where record_type in (2, 3, 11, 17) and is_tombstone
            ),
            -1
        ) as tombstone_log_offset,
        min(log_offset) filter (
            where record_type in (0, 1) and not is_tombstone
        ) as first_commit_log_offset,
        min(log_offset) filter (
            where record_type between 10 and 15 and not is_tombstone
        ) as first_share_log_offset,
        {# a part that was removed since had made its group all the same #}
        max_by({{ group_kind('record_type') }}, log_offset) filter (
            where {{ is_group_part('record_type') }} and not is_tombstone
        ) as last_part_kind,
        max(log_offset) filter (
            where {{ is_group_part('record_type') }} and not is_tombstone
        ) as last_part_log_offset

    from records

    group by
        cluster_id,
        group_id

)

select * from groups_touched
