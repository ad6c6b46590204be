{# after every fold of the domain, before every decision #}
-- depends_on: {{ ref('record_settings') }}
-- depends_on: {{ ref('replace_partition_states') }}
-- depends_on: {{ ref('replace_leader_epochs') }}
-- depends_on: {{ ref('replace_local_segments') }}
-- depends_on: {{ ref('fold_topic_configs') }}
-- depends_on: {{ ref('replace_rejected_segment_events') }}

with

parameters as (

    select * from {{ ref('stg_run__parameters') }}

),

folded as (

    select run_id

    from parameters

)

select * from folded
