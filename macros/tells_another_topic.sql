{# The topic id of a commit says something else now than the stored decision was made on. `changed`: the changes of the
   commit's partition, null = there is none. #}
{% macro tells_another_topic(commits, decided, changed) -%}
case {{ commits }}.committed_topic
                when 'same'
                    then {{ decided }}.reason_code in ('COMMIT_FROM_OLD_INCARNATION', 'NO_SYNC')
                when 'earlier'
                    then
                        {{ decided }}.reason_code <> 'COMMIT_FROM_OLD_INCARNATION'
                        and not {{ decided }}.is_refused
                when 'later'
                    then {{ decided }}.reason_code <> 'NO_SYNC' and not {{ decided }}.is_refused
                else
                    {{ decided }}.reason_code = 'COMMIT_FROM_OLD_INCARNATION'
                    and {{ changed }}.flow is not null
            end
{%- endmacro %}
