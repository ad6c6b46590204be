{# What a MERGE makes of a committed offset: commit and tombstone each follow the log on their own,
   so that any order of loads ends the same. #}
{% macro folded_offset_columns() %}
    {%- set columns = {} -%}
    {%- for column in ['topic_id', 'metadata', 'committed_offset', 'leader_epoch', 'is_readable', 'commit_at_ms', 'expire_at_ms'] -%}
        {%- do columns.update({column: 'if(s.commit_log_offset > t.commit_log_offset, s.' ~ column ~ ', t.' ~ column ~ ')'}) -%}
    {%- endfor -%}
    {%- set commit_at = 'greatest(s.commit_log_offset, t.commit_log_offset)' -%}
    {%- set tombstone_at = 'greatest(s.tombstone_log_offset, t.tombstone_log_offset)' -%}
    {#- what moldau's sweep removed stays removed until a later commit -#}
    {%- set is_swept = '(t.deleted_run_id is not null and s.commit_log_offset <= t.commit_log_offset)' -%}
    {%- set is_gone = tombstone_at ~ ' > ' ~ commit_at -%}
    {%- set is_new_tombstone = 's.tombstone_log_offset > t.tombstone_log_offset' -%}
    {%- do columns.update({
        'commit_log_offset': commit_at,
        'tombstone_log_offset': tombstone_at,
        'is_deleted': is_swept ~ ' or ' ~ is_gone,
        'deleted_by': 'if(' ~ is_swept ~ ', t.deleted_by, if(' ~ is_gone ~ ", 'broker', null))",
        'tombstone_at_ms': 'if(' ~ is_new_tombstone ~ ', s.tombstone_at_ms, t.tombstone_at_ms)',
        'deleted_at_ms': 'if(' ~ is_swept ~ ', t.deleted_at_ms, if(' ~ is_gone ~ ', if(' ~ is_new_tombstone ~ ', s.tombstone_at_ms, t.tombstone_at_ms), null))',
        'deleted_run_id': 'if(' ~ is_swept ~ ', t.deleted_run_id, null)',
        'changed_in_run_id': 's.changed_in_run_id',
    }) -%}
    {{ return(columns) }}
{% endmacro %}
