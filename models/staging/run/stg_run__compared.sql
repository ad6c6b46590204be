with

compared as (

    select * from {{ source('run', 'compared') }}

),

renamed as (

    select
        side,
        domain,
        cluster_id,
        subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from compared

)

select * from renamed
