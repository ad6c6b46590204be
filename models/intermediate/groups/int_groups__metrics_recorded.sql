with

{# a cycle counts under those that it used: what is counted stays counted #}
settings_versions as (

    select * from {{ ref('stg_state__settings_versions') }}

),

runs as (

    select * from {{ ref('stg_state__runs') }}

    where
        not is_dry_run
        and status = 'succeeded'

),

rule_sets as (

    select * from {{ ref('rule_sets') }}

    where domain = 'groups'

),

plugin_calls as (

    select * from {{ ref('stg_history__plugin_calls') }}

),

epoch_clears as (

    select * from {{ ref('stg_history__epoch_clears') }}

),

cycles as (

    select
        run_id,
        explode(cluster_ids) as cluster_id,
        started_at_ms

    from runs

    where kind = 'cycle'

),

{# whoever was eligible was called or dropped out at the barrier #}
groups_eligible as (

    select
        run_id,
        cluster_id,
        group_id,
        finished_at_ms as recorded_at_ms

    from plugin_calls

    where
        operation = 'delete'
        and run_id like '%-cycle'

    union all

    select
        run_id,
        cluster_id,
        group_id,
        written_at_ms as recorded_at_ms

    from epoch_clears

),

{# before KAFKA-20748 only the cycle told its deletes #}
calls_counted as (

    select plugin_calls.*

    from plugin_calls

    left join settings_versions as settings
        on
            plugin_calls.cluster_id = settings.cluster_id
            and {{ is_in_force('settings', 'plugin_calls.run_id') }}

    left join rule_sets on settings.rulesets['groups'] = rule_sets.ruleset

    where
        plugin_calls.operation <> 'delete'
        or plugin_calls.run_id like '%-cycle'
        or (
            rule_sets.uses_uncertain_epoch
            and plugin_calls.run_id like '%-requests'
        )

),

metrics_recorded as (

    select
        concat_ws('\n', 'cycle', cycles.run_id, cycles.cluster_id) as event_id,
        cycles.cluster_id,
        'cleanup-cycle' as sensor,
        cycles.started_at_ms as recorded_at_ms

    from cycles

    inner join settings_versions as settings
        on
            cycles.cluster_id = settings.cluster_id
            and settings.authority = 'moldau'
            and settings.has_plugin
            and {{ is_in_force('settings', 'cycles.run_id') }}

    union all

    select
        concat_ws('\n', 'eligible', run_id, cluster_id, group_id) as event_id,
        cluster_id,
        'cleanup-eligible' as sensor,
        min(recorded_at_ms) as recorded_at_ms

    from groups_eligible

    group by
        run_id,
        cluster_id,
        group_id

    union all

    select
        concat('call', call_id) as event_id,
        cluster_id,
        concat(operation, if(outcome = 'success', '-success', '-error'))
            as sensor,
        finished_at_ms as recorded_at_ms

    from calls_counted

)

select * from metrics_recorded
