with

metadata_rounds as (

    select * from {{ ref('int_producers__metadata_rounds_decided') }}

),

metadata_topics as (

    select * from {{ ref('int_producers__metadata_topics_decided') }}

),

decisions_gathered as (

    select
        'producers' as domain,
        'metadata_rounds' as decision_table,
        {{ metadata_subject() }} as subject,
        {{ metadata_decision_columns() }}

    from metadata_rounds

    union all

    select
        'producers' as domain,
        'metadata_topics' as decision_table,
        {{ metadata_subject('topic_name') }} as subject,
        {{ metadata_decision_columns() }}

    from metadata_topics

)

select * from decisions_gathered
