with

upload_candidates as (

    select * from {{ ref('int_tiers__upload_candidates_decided') }}

),

delete_candidates as (

    select * from {{ ref('int_tiers__delete_candidates_decided') }}

),

decisions_gathered as (

    select
        'tiers' as domain,
        'upload_candidates' as decision_table,
        {{ upload_subject() }} as subject,
        {{ tier_decision_columns() }}

    from upload_candidates

    union all

    select
        'tiers' as domain,
        'delete_candidates' as decision_table,
        {{ delete_subject() }} as subject,
        {{ tier_decision_columns() }}

    from delete_candidates

)

select * from decisions_gathered
