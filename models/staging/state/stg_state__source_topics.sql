with

source_topics as (

    select * from {{ source('state', 'source_topics') }}

),

renamed as (

    select
        cluster_id,
        topic_name,
        topic_id,
        first_seen_at_ms,
        last_seen_at_ms,
        first_committed_at_ms,
        changed_in_run_id

    from source_topics

)

select * from renamed
