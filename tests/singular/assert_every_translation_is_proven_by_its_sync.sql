-- A sync at or before the commit proves that no record is skipped; only where
-- MirrorMaker writes alone may a translation be another than the sync's own. A
-- group before the first sync of a complete history begins with that sync.
select
    translations.flow,
    translations.group_id,
    translations.topic_name,
    translations.partition_index,
    translations.upstream_offset,
    translations.translated_offset,
    translations.sync_log_offset

from {{ ref('stg_decisions__offset_translations') }} as translations

left anti join {{ ref('stg_state__offset_syncs') }} as syncs
    on
        translations.flow = syncs.flow
        and translations.topic_name = syncs.topic_name
        and translations.partition_index = syncs.partition_index
        and translations.syncs_incarnation = syncs.syncs_incarnation
        and translations.sync_log_offset = syncs.sync_log_offset
        and translations.upstream_offset >= syncs.upstream_offset
        and translations.translated_offset <= if(
            translations.upstream_offset = syncs.upstream_offset,
            syncs.downstream_offset,
            syncs.downstream_offset + 1
        )
        and (syncs.is_admitted or translations.ruleset <> 'full_history')
        and syncs.incarnation = coalesce(
            translations.incarnation, syncs.incarnation
        )
        and (
            translations.parity_incarnation <=> syncs.parity_incarnation
            or translations.ruleset <> 'parity'
        )

left anti join {{ ref('stg_state__mirrored_partitions') }} as partitions
    on
        translations.flow = partitions.flow
        and translations.topic_name = partitions.topic_name
        and translations.partition_index = partitions.partition_index
        and translations.sync_log_offset is null
        and translations.translated_offset = if(
            translations.ruleset = 'parity',
            partitions.parity_first_downstream_offset,
            partitions.first_downstream_offset
        )

where
    translations.translated_offset >= 0
    and not translations.is_anchored
