{# What a MERGE makes of a committed offset: commit and tombstone each follow the log on their own,
   so that any order of loads ends the same. #}
{% macro folded_offset_columns() %}
    {%- set columns = {} -%}
    {%- for column in ['topic_id', 'metadata', 'committed_offset', 'leader_epoch', 'is_readable', 'commit_at_ms', 'expire_at_ms'] -%}
        {%- do columns.update({column: 'if(s.commit_log_offset > t.commit_log_offset, s.' ~ column ~ ', t.' ~ column ~ ')'}) -%}
    {%- endfor -%}
    {%- set commit_at = 'greatest(s.commit_log_offset, t.commit_log_offset)' -%}
    {%- set tombstone_at = 'greatest(s.tombstone_log_offset, t.tombstone_log_offset)' -%}
    {%- set is_deleted = tombstone_at ~ ' > ' ~ commit_at -%}
    {%- set is_new_tombstone = 's.tombstone_log_offset > t.tombstone_log_offset' -%}
    {%- do columns.update({
        'commit_log_offset': commit_at,
        'tombstone_log_offset': tombstone_at,
        'is_deleted': is_deleted,
        'deleted_by': "if(" ~ is_deleted ~ ", 'broker', null)",
        'tombstone_at_ms': 'if(' ~ is_new_tombstone ~ ', s.tombstone_at_ms, t.tombstone_at_ms)',
        'deleted_at_ms': 'if(' ~ is_deleted ~ ', if(' ~ is_new_tombstone ~ ', s.tombstone_at_ms, t.tombstone_at_ms), null)',
        'deleted_run_id': 'null',
        'changed_in_run_id': 's.changed_in_run_id',
    }) -%}
    {{ return(columns) }}
{% endmacro %}
