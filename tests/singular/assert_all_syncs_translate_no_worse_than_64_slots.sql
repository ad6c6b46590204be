-- Of two flows that mirror the same, the one that keeps every sync is not behind
-- the one that keeps some, if it may use the sync that the other one used.
with

translations as (

    select
        translations.*,
        flows.source_cluster_id,
        flows.target_cluster_id,
        rule_sets.syncs_used,
        rule_sets.resets_at_rewind,
        rule_sets.waits_for_replays

    from {{ ref('stg_decisions__offset_translations') }} as translations

    inner join {{ ref('stg_state__flows') }} as flows
        on
            translations.flow = flows.flow
            and flows.valid_to_ms is null

    inner join {{ ref('rule_sets') }} as rule_sets
        on
            translations.ruleset = rule_sets.ruleset
            and rule_sets.domain = 'mirrors'

    where translations.translated_offset is not null

)

select
    translations.flow,
    translations.group_id,
    translations.topic_name,
    translations.partition_index,
    translations.upstream_offset,
    translations.translated_offset,
    sparse.translated_offset as sparse_offset

from translations

inner join translations as sparse
    on
        translations.source_cluster_id = sparse.source_cluster_id
        and translations.target_cluster_id = sparse.target_cluster_id
        and translations.group_id = sparse.group_id
        and translations.topic_name = sparse.topic_name
        and translations.partition_index = sparse.partition_index
        and translations.upstream_offset = sparse.upstream_offset

inner join {{ ref('stg_state__offset_syncs') }} as syncs
    on
        translations.flow = syncs.flow
        and sparse.syncs_incarnation = syncs.syncs_incarnation
        and sparse.sync_log_offset = syncs.sync_log_offset

where
    translations.syncs_used = 'all'
    and sparse.syncs_used <> 'all'
    and translations.translated_offset < sparse.translated_offset
    and (syncs.is_admitted or not translations.waits_for_replays)
    and if(
        translations.resets_at_rewind,
        syncs.parity_incarnation = translations.parity_incarnation,
        syncs.incarnation = translations.incarnation
    )
