with

metadata_rounds as (

    select * from {{ ref('int_producers__metadata_rounds_reasoned') }}

),

metadata_topics as (

    select * from {{ ref('int_producers__metadata_topics_reasoned') }}

),

decisions_reasoned as (

    select
        'producers' as domain,
        cluster_id,
        {{ metadata_subject() }} as subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from metadata_rounds

    union all

    select
        'producers' as domain,
        cluster_id,
        {{ metadata_subject('topic_name') }} as subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from metadata_topics

)

select * from decisions_reasoned
