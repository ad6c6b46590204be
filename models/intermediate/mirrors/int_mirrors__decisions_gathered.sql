with

offset_translations as (

    select * from {{ ref('int_mirrors__offset_translations_decided') }}

),

target_offset_writes as (

    select * from {{ ref('int_mirrors__target_offset_writes_decided') }}

),

decisions_gathered as (

    select
        'mirrors' as domain,
        'offset_translations' as decision_table,
        {{ translation_subject() }} as subject,
        cluster_id,
        group_id,
        {{ gathered_columns() }}

    from offset_translations

    union all

    select
        'mirrors' as domain,
        'target_offset_writes' as decision_table,
        {{ target_offset_subject() }} as subject,
        cluster_id,
        group_id,
        {{ gathered_columns() }}

    from target_offset_writes

)

select * from decisions_gathered
