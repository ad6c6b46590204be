-- The last recorded change of a subject is the decision that stands; a request
-- is decided once, and its row is all that there is to tell.
with

last_changes as (

    select
        cluster_id,
        subject,
        max_by(reason_code, run_id) as reason_code

    from {{ ref('stg_history__decision_changes') }}

    group by
        cluster_id,
        subject

)

select
    decisions.cluster_id,
    decisions.subject,
    decisions.reason_code,
    last_changes.reason_code as recorded_reason_code

from {{ ref('decisions') }} as decisions

left join last_changes
    on
        decisions.cluster_id = last_changes.cluster_id
        and decisions.subject = last_changes.subject

where
    not decisions.reason_code <=> last_changes.reason_code
    and decisions.decision_table not in (
        'heartbeat_gates',
        'topology_push_results',
        'group_deletion_results',
        'classic_join_results'
    )
