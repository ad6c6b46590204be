with

runs as (

    select * from {{ ref('stg_state__runs') }}

),

decisions as (

    select * from {{ ref('int_groups__decisions_gathered') }}

),

decision_changes as (

    select * from {{ ref('stg_history__decision_changes') }}

),

{{ decisions_unrecorded(kinds=['cycle', 'sweep']) }}

select * from decisions_unrecorded
