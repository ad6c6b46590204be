with

{# an offset of another topic is no place in this log #}
followed as (

    select
        *,
        greatest(committed_offset, log_start_offset) as read_offset

    from {{ ref('int_groups__partitions_compared') }}

    where
        not is_topic_recreated
        and committed_offset is not null
        and high_watermark is not null

),

{# what lies past the present end was seen before the log was cut, or in another log #}
earlier_ends as (

    select
        followed.cluster_id,
        followed.group_id,
        followed.topic_name,
        followed.partition_index,
        followed.read_offset,
        followed.taken_at_ms as last_taken_at_ms,
        ends.taken_at_ms,
        ends.log_start_offset,
        ends.high_watermark,
        struct(
            ends.taken_at_ms as taken_at_ms,
            ends.high_watermark as high_watermark
        ) as seen_end

    from followed

    inner join {{ ref('int_groups__ends_seen') }} as ends
        using (cluster_id, topic_name, partition_index)

    where
        ends.taken_at_ms < followed.taken_at_ms
        and ends.high_watermark <= followed.high_watermark
        and coalesce(ends.topic_id = followed.topic_id, true)

),

{# min and max of a pair take the earlier and the later, for its first part is the time #}
ends_gathered as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        max(if(high_watermark <= read_offset, seen_end, null)) as reached,
        min(if(high_watermark > read_offset, seen_end, null)) as passed,
        coalesce(
            min(if(taken_at_ms >= last_taken_at_ms - 1800000, seen_end, null)),
            max(seen_end)
        ) as base,
        min(if(log_start_offset is null, null, struct(taken_at_ms, log_start_offset)))
            as first_start

    from earlier_ends

    group by
        cluster_id,
        group_id,
        topic_name,
        partition_index

),

ends_told as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        reached.taken_at_ms as reached_at_ms,
        reached.high_watermark as reached_offset,
        passed.taken_at_ms as passed_at_ms,
        passed.high_watermark as passed_offset,
        base.taken_at_ms as base_at_ms,
        base.high_watermark as base_high_watermark,
        first_start.taken_at_ms as first_start_at_ms,
        first_start.log_start_offset as first_start_offset

    from ends_gathered

),

followed_with_ends as (

    select
        followed.*,
        ends.reached_at_ms,
        ends.reached_offset,
        {# where no earlier end is past the offset, the present one is #}
        coalesce(ends.passed_at_ms, followed.taken_at_ms) as passed_at_ms,
        coalesce(ends.passed_offset, followed.high_watermark) as passed_offset,
        ends.base_at_ms,
        ends.base_high_watermark,
        ends.first_start_at_ms,
        ends.first_start_offset

    from followed

    left join ends_told as ends
        using (cluster_id, group_id, topic_name, partition_index)

),

{# whoever has not committed since stood then where it stands now; whose offset was deleted then
   stood nowhere #}
earlier_commits as (

    select
        ends.cluster_id,
        ends.group_id,
        ends.topic_name,
        ends.partition_index,
        max_by(records.committed_offset, records.log_offset) as committed_offset

    from followed_with_ends as ends

    inner join {{ ref('stg_decoded__group_records') }} as records
        on
            ends.cluster_id = records.cluster_id
            and ends.group_id = records.group_id
            and ends.topic_name = records.committed_topic_name
            and ends.partition_index = records.committed_partition_index

    where
        ends.committed_at_ms > ends.base_at_ms
        and records.record_type = 1
        and (
            (records.is_tombstone and records.recorded_at_ms <= ends.base_at_ms)
            or (
                records.commit_at_ms <= ends.base_at_ms
                and records.committed_offset >= 0
                and coalesce(records.topic_id = ends.committed_topic_id, true)
            )
        )

    group by
        ends.cluster_id,
        ends.group_id,
        ends.topic_name,
        ends.partition_index

),

stood_then as (

    select
        ends.*,
        if(ends.committed_at_ms > ends.base_at_ms, earlier.committed_offset, ends.committed_offset)
            as base_committed_offset

    from followed_with_ends as ends

    left join earlier_commits as earlier
        using (cluster_id, group_id, topic_name, partition_index)

),

{# offsets per millisecond #}
rates_measured as (

    select
        *,
        (log_start_offset - first_start_offset)
        / nullif(taken_at_ms - first_start_at_ms, 0)
        - (committed_offset - base_committed_offset)
        / nullif(taken_at_ms - base_at_ms, 0) as closing_rate

    from stood_then

),

instants_reckoned as (

    select
        *,
        if(
            committed_offset >= log_start_offset
            and committed_offset < high_watermark
            and closing_rate > 0,
            round((committed_offset - log_start_offset) / closing_rate),
            null
        ) as lost_in_ms

    from rates_measured

),

lag_compared as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        base_at_ms as then_at_ms,
        if(base_at_ms is null, null, base_committed_offset) as offset_then,
        if(
            base_committed_offset >= base_high_watermark,
            cast(0 as bigint),
            base_high_watermark - base_committed_offset
        ) as lag_then,
        case
            when read_offset >= high_watermark then cast(0 as bigint)
            when passed_at_ms > reached_at_ms
                then
                    (
                        taken_at_ms - reached_at_ms
                        - cast(
                            round(
                                (passed_at_ms - reached_at_ms)
                                * (
                                    (read_offset - reached_offset)
                                    / (passed_offset - reached_offset)
                                )
                            ) as bigint
                        )
                    ) div 1000
        end as lag_seconds,
        if(
            read_offset >= high_watermark,
            cast(0 as bigint),
            (taken_at_ms - passed_at_ms) div 1000
        ) as lag_seconds_at_least,
        {# what is further off than a year is no forecast #}
        if(
            lost_in_ms <= 31536000000,
            taken_at_ms + cast(lost_in_ms as bigint),
            null
        ) as lost_from_at_ms

    from instants_reckoned

)

select * from lag_compared
