{# The columns together identify a row, and none of them is null. #}
{% test unique_combination_of_columns(model, columns) %}

select {{ columns | join(', ') }}
from {{ model }}
group by {{ columns | join(', ') }}
having
    count(*) > 1
    {%- for column in columns %}
    or count({{ column }}) < count(*)
    {%- endfor %}

{% endtest %}
