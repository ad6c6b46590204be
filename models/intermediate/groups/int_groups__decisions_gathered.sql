with

cleanup_eligibility as (

    select * from {{ ref('int_groups__cleanup_eligibility_decided') }}

),

offset_expirations as (

    select * from {{ ref('int_groups__offset_expirations_decided') }}

),

group_sweeps as (

    select * from {{ ref('int_groups__group_sweeps_decided') }}

),

decisions_gathered as (

    select
        'groups' as domain,
        'cleanup_eligibility' as decision_table,
        concat('cleanup ', group_id) as subject,
        {{ decision_columns() }}

    from cleanup_eligibility

    union all

    select
        'groups' as domain,
        'group_sweeps' as decision_table,
        concat('sweep ', group_id) as subject,
        {{ decision_columns() }}

    from group_sweeps

    union all

    select
        'groups' as domain,
        'offset_expirations' as decision_table,
        {{ offset_subject() }} as subject,
        {{ decision_columns() }}

    from offset_expirations

)

select * from decisions_gathered
