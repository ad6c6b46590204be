{{ config(
    tags='apply_cycle',
    meta={'into': 'history.epoch_clears', 'write': 'append'}
) }}

-- depends_on: {{ ref('int_groups__decided') }}
-- depends_on: {{ ref('clear_topology_epochs') }}

with

descriptions_tried as (

    select * from {{ ref('int_groups__descriptions_tried') }}

),

recorded as (

    select * from {{ ref('stg_history__epoch_clears') }}

),

steps_taken as (

    {# whoever is called has passed the barrier; at -2 there was none to pass #}
    select
        *,
        explode(
            array_compact(
                array(
                    if(
                        needs_barrier
                        and not (is_called and observed_epoch = -2),
                        'barrier',
                        null
                    ),
                    if(
                        is_deleted_there,
                        if(needs_barrier, 'finalise', 'clear'),
                        null
                    )
                )
            )
        ) as step

    from descriptions_tried

),

outcomes_known as (

    select
        *,
        case
            when step = 'barrier' and is_called then 'marked_uncertain'
            when step <> 'barrier' and is_settled
                then if(epoch_now = -2, 'lost_race', 'cleared')
            when is_gone then 'group_gone'
            when group_type <> 'streams' then 'not_streams'
            when epoch_now = -1 then 'nothing_stored'
            else 'lost_race'
        end as outcome

    from steps_taken

),

epoch_clears as (

    select
        run_id,
        cluster_id,
        group_id,
        step,
        observed_epoch,
        case outcome
            when 'marked_uncertain' then -2
            when 'cleared' then -1
            when 'group_gone' then null
            else epoch_now
        end as epoch_after,
        outcome,
        unix_millis(current_timestamp()) as written_at_ms

    from outcomes_known

)

select epoch_clears.*

from epoch_clears

left anti join recorded
    on
        epoch_clears.run_id = recorded.run_id
        and epoch_clears.cluster_id = recorded.cluster_id
        and epoch_clears.group_id = recorded.group_id
        and epoch_clears.step = recorded.step
