with

commits as (

    select
        *,
        committed_offset - record_before.committed_offset as step,
        case
            when group_before is null or group_before.is_tombstone then null
            when group_before.kind = 2 then group_before.member_count > 0
            when are_members_known then members_known > 0
        end as has_members

    from {{ ref('int_groups__records_followed') }}

    where is_commit and is_readable

),

steps_compared as (

    select
        *,
        max(if(step > 0, step, null)) over earlier as longest_step,
        last_value(committed_offset) ignore nulls over earlier as last_offset,
        max(log_offset) over earlier as last_log_offset

    from commits

    window
        earlier as (
            partition by cluster_id, group_id, topic_name, partition_index
            order by log_offset
            rows between unbounded preceding and 1 preceding
        )

),

commits_named as (

    select
        *,
        case
            when record_before is null then 'FIRST_COMMIT'
            when record_before.is_tombstone then 'CAME_BACK'
            when step < 0 then 'REWOUND'
            {# the first one since the group changed: who goes on has none of the group's members,
               as a consumer to which partitions are assigned, or MirrorMaker #}
            when
                step > 0
                and has_members = false
                and change_before.log_offset > last_log_offset
                then 'JUMPED_AHEAD'
            when step >= 1000 and step / 10 > longest_step then 'JUMPED_AHEAD'
            else 'COMMITS'
        end as event

    from steps_compared

    where not is_tombstone

),

stretches as (

    select
        *,
        sum(if(event = 'COMMITS', 0, 1)) over (
            partition by cluster_id, group_id, topic_name, partition_index
            order by log_offset
            rows between unbounded preceding and current row
        ) as stretch

    from commits_named

),

commits_gathered as (

    select
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        stretch,
        event,
        min(log_partition_index) as log_partition_index,
        min(log_offset) as log_offset,
        max(log_offset) as until_log_offset,
        min_by(recorded_at_ms, log_offset) as event_at_ms,
        max_by(recorded_at_ms, log_offset) as until_at_ms,
        count(*) as event_count,
        min_by(last_offset, log_offset) as offset_before,
        max_by(committed_offset, log_offset) as offset_after,
        max_by(run_id, log_offset) as run_id

    from stretches

    group by
        cluster_id,
        group_id,
        topic_name,
        partition_index,
        stretch,
        event

)

select * from commits_gathered
