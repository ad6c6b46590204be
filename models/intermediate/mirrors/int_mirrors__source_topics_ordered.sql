with

sights as (

    select * from {{ ref('int_mirrors__source_topics_seen') }}

),

{{ topics_in_order('sights') }}

select * from topics_ordered
