-- An epoch is cleared or finalised only after the plugin deleted the
-- description, in the same run.
select
    epoch_clears.run_id,
    epoch_clears.cluster_id,
    epoch_clears.group_id,
    epoch_clears.step

from {{ ref('stg_history__epoch_clears') }} as epoch_clears

left anti join {{ ref('stg_history__plugin_calls') }} as plugin_calls
    on
        epoch_clears.run_id = plugin_calls.run_id
        and epoch_clears.cluster_id = plugin_calls.cluster_id
        and epoch_clears.group_id = plugin_calls.group_id
        and plugin_calls.operation = 'delete'
        and plugin_calls.outcome = 'success'
        and epoch_clears.written_at_ms >= plugin_calls.finished_at_ms

where epoch_clears.step <> 'barrier'
