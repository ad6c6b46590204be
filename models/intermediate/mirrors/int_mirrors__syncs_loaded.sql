with

records as (

    select * from {{ ref('stg_run__offset_syncs') }}

),

flows as (

    select * from {{ ref('int_mirrors__flows_configured') }}

),

syncs_loaded as (

    {{ syncs_of('records', 'flows') }}

)

select * from syncs_loaded
