with

attempts as (

    select * from {{ ref('int_tiers__copy_attempts_ended') }}

),

attempts_numbered as (

    select
        *,
        count_if(is_first_of_run) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
            order by attempt_number
        ) as run_number

    from attempts

),

runs as (

    select
        cluster_id,
        topic_id,
        partition_index,
        run_number,
        broker_id,
        min(started_at_ms) as started_at_ms,
        max_by(ended_at_ms, attempt_number) as ended_at_ms,
        count(*) as attempts,
        count_if(outcome = 'copied') as segments_copied,
        max_by(outcome, attempt_number) as outcome,
        bool_or(is_last) as is_last

    from attempts_numbered

    group by
        cluster_id,
        topic_id,
        partition_index,
        run_number,
        broker_id

),

copy_runs_found as (

    select
        *,
        lag(ended_at_ms) over (
            partition by
                cluster_id,
                topic_id,
                partition_index
            order by run_number
        ) as previous_ended_at_ms

    from runs

)

select * from copy_runs_found
