{# Whether a back-off is of the streams group that is there now: not of one of its name that was removed since it was armed. #}
{% macro is_of_this_group(backoffs, groups) -%}
{{ backoffs }}.cluster_id = {{ groups }}.cluster_id
            and {{ backoffs }}.group_id = {{ groups }}.group_id
            and {{ groups }}.group_type = 'streams'
            and not {{ groups }}.is_deleted
            and {{ backoffs }}.armed_log_offset
            > greatest({{ groups }}.tombstone_log_offset, coalesce({{ groups }}.removed_log_offset, -1))
{%- endmacro %}
