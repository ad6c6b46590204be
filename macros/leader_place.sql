{# Which of several brokers that call themselves leader of a partition leads it: 1 is the leader. The one of the latest leader
   epoch, for a broker that has not heard of a later one still takes itself for the leader; where epochs do not tell, the one that
   was asked last. `topic`: the column that the topic is known by; `within`: what one cluster's rows are told apart by, too, as those of
   several snapshots are. Of followers nothing is asked. #}
{% macro leader_place(topic, within='cluster_id') %}
row_number() over (
            partition by {{ within }}, {{ topic }}, partition_index
            order by nullif(leader_epoch, -1) desc nulls last, taken_at_ms desc, broker_id asc
        )
{%- endmacro %}
