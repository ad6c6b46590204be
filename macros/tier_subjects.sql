{# The subject of a decision about a local segment. #}
{% macro upload_subject() -%}
concat('upload ', topic_name, '-', partition_index, ' ', base_offset, ' on ', broker_id)
{%- endmacro %}

{# The subject of a decision about a remote segment. #}
{% macro delete_subject() -%}
concat('delete ', topic_name, '-', partition_index, ' ', segment_id)
{%- endmacro %}

{# The columns that the decisions of the tiers domain have in common. #}
{% macro tier_decision_columns() %}
        cluster_id,
        topic_name,
        partition_index,
        run_id,
        ruleset,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        decided_at_ms
{%- endmacro %}
