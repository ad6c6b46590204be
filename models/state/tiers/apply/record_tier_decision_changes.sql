{{ config(
    tags='decide_tiers',
    meta={
        'into': 'history.decision_changes',
        'write': 'append',
        'skips_no_rows': 'listed',
        'write_needs_open_run': false
    }
) }}

-- depends_on: {{ ref('int_tiers__decided') }}

with

runs as (

    select * from {{ ref('stg_state__runs') }}

),

decisions as (

    select * from {{ ref('int_tiers__decisions_gathered') }}

),

decision_changes as (

    select * from {{ ref('stg_history__decision_changes') }}

),

{{ decisions_unrecorded('decisions', 'runs', 'decision_changes', kinds=['tiers']) }}

select * from decisions_unrecorded
