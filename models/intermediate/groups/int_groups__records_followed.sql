{# Every record of a group beside what its log said before: the earlier record of
   its key, and the group as its latest record had it. #}
with

records as (

    select
        cluster_id,
        group_id,
        partition_index as log_partition_index,
        log_offset,
        recorded_at_ms,
        run_id,
        if(record_type = 0, 1, record_type) as record_type,
        is_tombstone,
        decode_status in ('ok', 'ok_trailing', 'tombstone') as is_readable,
        record_type in (0, 1) as is_commit,
        record_type in (2, 3, 11, 17) as is_group,
        record_type in (5, 10, 19) as is_member,
        if(record_type < 2, null, {{ group_kind('record_type') }}) as kind,
        member_id,
        regular_expression,
        committed_topic_name as topic_name,
        committed_partition_index as partition_index,
        committed_offset,
        commit_at_ms,
        expire_at_ms,
        epoch,
        protocol_type,
        member_count,
        state_at_ms,
        subscribed_topics,
        stored_description_topology_epoch

    from {{ ref('stg_decoded__group_records') }}

    where group_id is not null and record_type between 0 and 23

),

records_paired as (

    select
        *,
        lag(
            struct(
                is_tombstone,
                is_readable,
                committed_offset,
                commit_at_ms,
                expire_at_ms,
                epoch
            )
        ) over of_key as record_before,
        lead(log_offset) over of_key as replaced_log_offset,
        last_value(
            if(
                is_group,
                struct(
                    kind,
                    is_tombstone,
                    is_readable,
                    recorded_at_ms,
                    epoch,
                    protocol_type,
                    member_count,
                    state_at_ms,
                    subscribed_topics,
                    stored_description_topology_epoch
                ),
                null
            )
        ) ignore nulls over before_it as group_before,
        last_value(
            if(is_commit, null, struct(log_offset, recorded_at_ms))
        ) ignore nulls over before_it as change_before,
        coalesce(
            sum(if(is_group and is_tombstone, 1, 0)) over before_it, 0
        ) as incarnation

    from records

    window
        of_key as (
            partition by
                cluster_id,
                group_id,
                record_type,
                member_id,
                regular_expression,
                topic_name,
                partition_index
            order by log_offset
        ),
        before_it as (
            partition by cluster_id, group_id
            order by log_offset
            rows between unbounded preceding and 1 preceding
        )

),

members_moved as (

    select
        *,
        case
            when not is_member or not is_readable then 0
            when is_tombstone then if(record_before.is_tombstone = false, -1, 0)
            when record_before.is_tombstone = false then 0
            else 1
        end as members_added

    from records_paired

),

records_followed as (

    select
        *,
        greatest(sum(members_added) over of_incarnation, 0) as members_known,
        min(if(is_tombstone, null, log_offset)) over (
            partition by cluster_id, group_id, incarnation
        ) as begun_log_offset,
        {# a log that begins in the middle lacks members that joined before: the first
           epoch of a group is 1, and what follows its tombstone is here #}
        incarnation > 0
        or max(members_added) over of_incarnation = 1
        or coalesce(
            first_value(
                if(is_group and not is_tombstone, epoch, null)
            ) ignore nulls over of_incarnation,
            2
        ) <= 1 as are_members_known

    from members_moved

    window
        of_incarnation as (
            partition by cluster_id, group_id, incarnation
            order by log_offset
            rows between unbounded preceding and current row
        )

)

select * from records_followed
