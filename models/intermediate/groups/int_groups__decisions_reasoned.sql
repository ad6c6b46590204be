with

cleanup_eligibility as (

    select * from {{ ref('int_groups__cleanup_eligibility_reasoned') }}

),

offset_expirations as (

    select * from {{ ref('int_groups__offset_expirations_reasoned') }}

),

group_sweeps as (

    select * from {{ ref('int_groups__group_sweeps_reasoned') }}

),

decisions_reasoned as (

    select
        'groups' as domain,
        cluster_id,
        concat('cleanup ', group_id) as subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from cleanup_eligibility

    union all

    select
        'groups' as domain,
        cluster_id,
        concat('sweep ', group_id) as subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from group_sweeps

    union all

    select
        'groups' as domain,
        cluster_id,
        {{ offset_subject() }} as subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from offset_expirations

)

select * from decisions_reasoned
