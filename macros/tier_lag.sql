{# The columns of a partition's tier lag. #}
{% macro tier_lag_columns() %}
    {{ return([
        'upload_tier_lag',
        'upload_tier_lag_sum',
        'upload_tier_lag_issued',
        'upload_lag_new_offsets',
        'upload_in_flight',
        'upload_blocked_by_lso',
        'upload_delayed',
        'upload_lag_bytes',
        'upload_lag_segments',
        'delete_tier_lag',
        'delete_tier_lag_sum',
        'delete_tier_lag_issued',
        'delete_lag_bytes',
        'delete_lag_segments',
        'over_deleted_bytes',
        'oldest_pending_upload_at_ms',
        'oldest_pending_delete_at_ms',
    ]) }}
{% endmacro %}

{# The same from a relation, as lines of a select. #}
{% macro tier_lag_of(relation) -%}
    {%- for column in tier_lag_columns() %}
        {{ relation }}.{{ column }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{# Two measurements of a partition say the same. #}
{% macro is_tier_lag_equal(new, old) -%}
{{ new }}.is_measured <=> {{ old }}.is_measured
        and {{ new }}.broker_id <=> {{ old }}.broker_id
        {%- for column in tier_lag_columns() %}
        and {{ new }}.{{ column }} <=> {{ old }}.{{ column }}
        {%- endfor %}
{%- endmacro %}

{# Over partitions: sums, and the oldest of what waits. #}
{% macro tier_lag_totals() -%}
    {%- for column in tier_lag_columns() %}
        {{ 'min(' ~ column ~ ')' if column.startswith('oldest_') else long_sum(column) }} as {{ column }},
    {%- endfor %}
        count(*) as partitions,
        {{ instant('min(oldest_pending_upload_at_ms)') }} as oldest_pending_upload_at,
        {{ instant('min(oldest_pending_delete_at_ms)') }} as oldest_pending_delete_at
{%- endmacro %}

{# A sum over the segments of a partition: 0 if it has none, null if some wait for a snapshot to be judged by. #}
{% macro zero_or_unknown(relation, column) -%}
if({{ relation }}.is_without_snapshot, null, coalesce({{ relation }}.{{ column }}, 0))
{%- endmacro %}

{# Offsets of the local segments with this reason. #}
{% macro offsets_because(reason_code) -%}
coalesce(sum(if(reason_code = '{{ reason_code }}', next_base_offset - base_offset, 0)), 0)
{%- endmacro %}
