{# The columns together identify a row, and none of them is null but those that say something by it. #}
{% test unique_combination_of_columns(model, columns, nullable=[]) %}

select {{ columns | join(', ') }}
from {{ model }}
group by {{ columns | join(', ') }}
having
    count(*) > 1
    {%- for column in columns if column not in nullable %}
    or count({{ column }}) < count(*)
    {%- endfor %}

{% endtest %}
