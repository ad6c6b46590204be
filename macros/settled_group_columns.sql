{# What a MERGE makes of a group whose requests were answered: dead, a classic group, or a streams group with new epochs.
   Of the epochs that moldau wrote only the later ones hold; what another writer cleared meanwhile is uncertain (V3). A group
   that is no longer empty stays, and its description is gone or uncertain. #}
{% macro settled_group_columns() %}
    {%- set goes = "(s.removed_by is not null and t.group_state = 'EMPTY')" -%}
    {%- set dies = '(' ~ goes ~ " and s.removed_by = 'delete_groups')" -%}
    {%- set values = {
        'group_type': ('t.group_type', "'classic'"),
        'group_state': ("'DEAD'", "'PREPARING_REBALANCE'"),
        'protocol_type': ('t.protocol_type', "'consumer'"),
        'group_epoch': ('0', '0'),
        'topology_epoch': ('-1', '-1'),
        'member_count': ('0', '1'),
        'subscribed_topics': ('null', 'null'),
        'is_deleted': ('true', 'false'),
        'deleted_by': ("'delete_groups'", 'null'),
        'empty_since_at_ms': ('null', 'null'),
        'deleted_at_ms': ('unix_millis(current_timestamp())', 'null'),
        'deleted_run_id': ('s.run_id', 'null'),
        'removed_log_offset': ('t.log_offset', 't.log_offset'),
        'next_due_at_ms': ('null', 't.next_due_at_ms'),
    } -%}
    {%- set columns = {
        'stored_description_topology_epoch': 'case when ' ~ goes ~ ' then -1'
            ~ ' when s.needs_finalise then if(t.stored_description_topology_epoch = -2, -1, if(t.stored_description_topology_epoch = -1, -1, -2))'
            ~ ' when s.stored_epoch_after is null or s.stored_epoch_after = -2 then t.stored_description_topology_epoch'
            ~ ' when s.is_behind_barrier and t.stored_description_topology_epoch = -1 then -2'
            ~ ' else greatest(t.stored_description_topology_epoch, s.stored_epoch_after) end',
        'failed_description_topology_epoch': 'if(' ~ goes ~ ', -1, greatest(t.failed_description_topology_epoch, s.failed_epoch_after))',
        'epochs_written_in_run_id': 'if(' ~ goes ~ ', null, s.run_id)',
        'description_settled_in_run_id': 'if(' ~ dies ~ ', null, s.run_id)',
        'changed_in_run_id': 's.run_id',
    } -%}
    {%- for column, (dead, converted) in values.items() -%}
        {%- do columns.update({column: 'case when ' ~ dies ~ ' then ' ~ dead ~ ' when ' ~ goes ~ ' then ' ~ converted ~ ' else t.' ~ column ~ ' end'}) -%}
    {%- endfor -%}
    {{ return(columns) }}
{% endmacro %}
