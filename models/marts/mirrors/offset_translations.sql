with

offset_translations as (

    select * from {{ ref('int_mirrors__offset_translations_decided') }}

),

flows as (

    select * from {{ ref('stg_state__flows') }}

),

reasons as (

    select * from {{ ref('reason_codes') }}

    where
        domain = 'mirrors'
        and decision_table = 'offset_translations'

),

translations_told as (

    select
        translations.flow,
        translations.group_id,
        translations.topic_name,
        translations.partition_index,
        flows.source_cluster_id,
        flows.target_cluster_id,
        translations.target_topic_name,
        translations.upstream_offset,
        translations.translated_offset,
        translations.lower_bound,
        translations.upper_bound,
        translations.reread_max,
        translations.lower_bound = translations.upper_bound as is_exact,
        translations.sync_log_offset,
        translations.decision,
        translations.reason_code,
        reasons.reason_text,
        translations.ruleset,
        translations.observed_downstream_offset,
        translations.observed_emitted_by,
        {{ instant('translations.commit_at_ms') }} as commit_at,
        {{ instant('translations.decided_at_ms') }} as decided_at,
        translations.run_id

    from offset_translations as translations

    left join flows
        on translations.flow = flows.flow

    left join reasons
        on translations.reason_code = reasons.reason_code

)

select * from translations_told
