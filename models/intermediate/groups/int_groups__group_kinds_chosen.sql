{# Which kind of group each touched group is now.
   It is what the latest live record among the four kinds says; where the log
   holds none, what its parts made; where only commits are left, a simple group;
   else deleted. A type 2 tombstone removes a group of any kind. #}
with

group_makers as (

    select * from {{ ref('int_groups__group_makers') }}

),

standings_known as (

    select
        *,
        case
            when
                latest.live.log_offset > classic_tombstone_log_offset
                and not (
                    latest.kind = 2 and is_record_simple and maker is not null
                )
                then 'recorded'
            when maker is not null then 'implied'
            {# all its parts went, and nothing removed the group itself: what stands was made
               after a tombstone that was known by then #}
            when
                coalesce(removed.log_offset <= stored_tombstone_log_offset, true)
                and (
                    stored_group_type in ('consumer', 'streams')
                    or (stored_group_type = 'share' and not is_share_refused)
                )
                then 'implied'
            when last_commit_log_offset > simple_tombstone_log_offset
                then 'simple'
            when removed is not null then 'deleted'
        end as standing

    from group_makers

),

kinds_known as (

    select
        *,
        case standing
            when 'recorded' then latest.kind
            when 'implied'
                then
                    coalesce(
                        maker.kind,
                        case stored_group_type
                            when 'consumer' then 3
                            when 'share' then 11
                            when 'streams' then 17
                        end
                    )
            when 'simple' then 2
            else removed.kind
        end as kind

    from standings_known

    where standing is not null

),

tombstones_chosen as (

    select
        *,
        case
            when standing = 'recorded' then classic_tombstone_log_offset
            when kind = 3
                then greatest(reset_log_offset, consumer_tombstone_log_offset)
            when kind = 11
                then greatest(reset_log_offset, share_tombstone_log_offset)
            else greatest(reset_log_offset, streams_tombstone_log_offset)
        end as made_after_log_offset

    from kinds_known

),

{# members older than a tombstone of the group are of one that it removed #}
group_kinds_chosen as (

    select
        cluster_id,
        group_id,
        run_id,
        standing,
        kind,
        filter(
            if(standing in ('recorded', 'implied'), members, array()),
            m -> m.kind = tombstones_chosen.kind
            and m.log_offset > made_after_log_offset
        ) as live_members,
        departures,
        if(
            standing = 'implied',
            filter(kinds, k -> k.kind = tombstones_chosen.kind)[0],
            latest
        ) as latest,
        if(standing = 'recorded', latest.live, null) as record,
        removed,
        forall(
            filter(parts, p -> p.kind = tombstones_chosen.kind), p -> p.is_readable
        ) as are_parts_readable,
        made_after_log_offset,
        offsets_partition_index,
        log_offset,
        tombstone_log_offset,
        last_commit_log_offset,
        removed_log_offset

    from tombstones_chosen

)

select * from group_kinds_chosen
