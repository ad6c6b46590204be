{# The subject of a decision about a producer's metadata, or that of one topic of it, in the words that `moldau explain` takes. #}
{% macro metadata_subject(topic_name=none) -%}
{% if topic_name %}concat('metadata ', producer_id, ' ', {{ topic_name }}){% else %}concat('round ', producer_id){% endif %}
{%- endmacro %}

{# The columns of a stored decision that marts.decisions shows. #}
{% macro metadata_decision_columns() %}
        cluster_id,
        producer_id,
        run_id,
        ruleset,
        decision,
        reason_code,
        previous_decision,
        previous_reason_code,
        changed_in_run_id,
        decided_at_ms
{%- endmacro %}
