{# What is known of producers' topics, of what was told: the snapshot's row, the latest event of each kind, and what moldau
   applied. `parts`: relation with those columns of state.producer_topics. Whatever came first says the same. #}
{% macro topics_known(parts) %}
{# of what the snapshot tells, events before it are a part #}
parts_in_force as (

    select
        *,
        coalesce(greatest(snapshot_access_at_ms, access_at_ms), 0) as accessed_at_ms,
        greatest(snapshot_refresh_at_ms, {{ since_snapshot('refreshed_at_ms') }})
            as answered_well_at_ms,
        {{ since_snapshot('error_at_ms') }} as answered_badly_at_ms,
        greatest(
            if(snapshot_has_demand, snapshot_access_at_ms, null), {{ since_snapshot('demand_at_ms') }}
        ) as wanted_at_ms,
        {# of one instant the snapshot's word holds #}
        if(demand_ended_at_ms > coalesce(snapshot_at_ms, -1), demand_ended_at_ms, null) as wanted_until_ms,
        greatest(snapshot_notified_at_ms, {{ since_snapshot('notice_at_ms') }}) as told_at_ms,
        {# without a request the answer came at once #}
        if(
            greatest(refreshed_at_ms, error_at_ms) >= coalesce(snapshot_at_ms, 0),
            coalesce(answered_request_at_ms, greatest(refreshed_at_ms, error_at_ms)),
            null
        ) as asked_at_ms

    from {{ parts }}

),

topics_known as (

    select
        cluster_id,
        producer_id,
        topic_name,
        coalesce(
            greatest(
                snapshot_access_at_ms,
                access_at_ms,
                {# the answer for which somebody waited #}
                if(
                    wanted_at_ms <= refreshed_at_ms
                    and coalesce(wanted_until_ms < wanted_at_ms or wanted_until_ms >= refreshed_at_ms, true),
                    {{ since_snapshot('refreshed_at_ms') }},
                    null
                )
            ),
            first_event_at_ms,
            last_event_at_ms
        ) as last_access_at_ms,
        if(answered_badly_at_ms >= coalesce(answered_well_at_ms, 0), null, answered_well_at_ms)
            as last_refresh_at_ms,
        coalesce(wanted_at_ms > wanted_until_ms, wanted_at_ms is not null) as has_demand,
        if(told_at_ms <= asked_at_ms, null, told_at_ms) as notified_at_ms,
        least(
            if(refreshed_after_access_at_ms >= accessed_at_ms, refreshed_after_access_at_ms, null),
            if(snapshot_refresh_at_ms >= accessed_at_ms, snapshot_refresh_at_ms, null)
        ) as idle_since_at_ms,
        coalesce(answered_badly_at_ms >= coalesce(answered_well_at_ms, 0), false) as is_in_error,
        partition_count,
        snapshot_at_ms,
        snapshot_taken_at_ms,
        snapshot_access_at_ms,
        snapshot_refresh_at_ms,
        snapshot_has_demand,
        snapshot_notified_at_ms,
        access_at_ms,
        demand_at_ms,
        demand_ended_at_ms,
        notice_at_ms,
        requested_at_ms,
        refreshed_at_ms,
        error_at_ms,
        answered_request_at_ms,
        refreshed_after_access_at_ms,
        first_event_at_ms,
        last_event_at_ms,
        evicted_at_ms,
        run_id as changed_in_run_id,
        is_gone

    from parts_in_force

)
{% endmacro %}

{# An instant of an event, null if the snapshot tells of what was later. #}
{% macro since_snapshot(at_ms) -%}
if({{ at_ms }} >= coalesce(snapshot_at_ms, {{ at_ms }}), {{ at_ms }}, null)
{%- endmacro %}
