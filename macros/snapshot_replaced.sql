{# A snapshot replaces the cluster's previous one as a whole. `loaded` and `stored`: relations of the
   new one and of the previous one; of their columns `compared` say whether a row changed, `carried` are taken over without. #}
{% macro snapshot_replaced(loaded, stored, key, compared, carried=[]) %}
snapshot_replaced as (

    select
        {%- for column in key %}
        coalesce(loaded.{{ column }}, stored.{{ column }}) as {{ column }},
        {%- endfor %}
        {%- for column in compared + carried %}
        loaded.{{ column }},
        {%- endfor %}
        loaded.run_id,
        {%- if compared %}
        if(
            {%- for column in compared %}
            {{ 'and ' if not loop.first }}loaded.{{ column }} <=> stored.{{ column }}
            {%- endfor %}
            and stored.run_id is not null,
            stored.changed_in_run_id,
            loaded.run_id
        ) as changed_in_run_id,
        {%- endif %}
        loaded.run_id is null as is_gone

    from {{ loaded }} as loaded

    full outer join {{ stored }} as stored
        on
            {%- for column in key %}
            {{ 'and ' if not loop.first }}loaded.{{ column }} = stored.{{ column }}
            {%- endfor %}

)
{% endmacro %}
