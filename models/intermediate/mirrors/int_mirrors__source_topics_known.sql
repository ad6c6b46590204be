with

sights as (

    select * from {{ ref('stg_state__source_topics') }}

),

{{ topics_in_order('sights') }}

select * from topics_ordered
