with

offset_translations as (

    select * from {{ ref('int_mirrors__offset_translations_reasoned') }}

),

target_offset_writes as (

    select * from {{ ref('int_mirrors__target_offset_writes_reasoned') }}

),

decisions_reasoned as (

    select
        'mirrors' as domain,
        cluster_id,
        {{ translation_subject() }} as subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from offset_translations

    union all

    select
        'mirrors' as domain,
        cluster_id,
        {{ target_offset_subject() }} as subject,
        ruleset,
        decision,
        reason_code,
        decided_at_ms

    from target_offset_writes

)

select * from decisions_reasoned
