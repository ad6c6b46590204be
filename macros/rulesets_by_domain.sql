{# Rows of moldau 0.1, which had a column a domain, tell the rule sets in the settings alone. #}
{% macro rulesets_by_domain() -%}
    coalesce(rulesets, from_json(get_json_object(settings, '$.ruleset'), 'map<string,string>'))
{%- endmacro %}
