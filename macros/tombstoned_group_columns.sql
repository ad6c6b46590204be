{# What a MERGE makes of a group that the sweep looked at: dead where it goes, else only marked as
   changed, because offsets of it went. The gate and the group's state are those of this moment. #}
{% macro tombstoned_group_columns() %}
    {%- set dead = {
        'group_state': "'DEAD'",
        'group_epoch': '0',
        'topology_epoch': '-1',
        'stored_description_topology_epoch': '-1',
        'failed_description_topology_epoch': '-1',
        'member_count': '0',
        'subscribed_topics': 'null',
        'is_deleted': 'true',
        'deleted_by': "'sweep'",
        'empty_since_at_ms': 'null',
        'deleted_at_ms': 'unix_millis(current_timestamp())',
        'deleted_run_id': 's.run_id',
        'removed_log_offset': 't.log_offset',
        'epochs_written_in_run_id': 'null',
        'description_settled_in_run_id': 'null',
    } -%}
    {%- set columns = {'next_due_at_ms': 's.next_due_at_ms', 'changed_in_run_id': 's.run_id'} -%}
    {%- for column, value in dead.items() -%}
        {%- do columns.update({column: 'if(' ~ group_goes() ~ ', ' ~ value ~ ', t.' ~ column ~ ')'}) -%}
    {%- endfor -%}
    {{ return(columns) }}
{% endmacro %}

{# GroupMetadataManager.maybeDeleteGroup and the gate of KIP-1331. Without a plugin the epoch is never looked at. #}
{% macro group_goes() %}
    {{ return(
        "(s.is_tombstone and t.group_state = 'EMPTY' and (not s.has_plugin or t.group_type <> 'streams'"
        ~ ' or t.stored_description_topology_epoch = -1))'
    ) }}
{% endmacro %}
