with

listings as (

    select * from {{ ref('stg_state__group_listings') }}

),

groups_recorded as (

    select
        cluster_id,
        group_id,
        true as is_in_records

    from {{ ref('stg_state__groups') }}

),

offsets_waiting as (

    select
        cluster_id,
        group_id,
        count(*) as waiting_offset_count

    from {{ ref('stg_state__open_transactions') }}

    group by
        cluster_id,
        group_id

),

consumer_offsets as (

    select * from {{ ref('freshness') }}

    where topic_name = '__consumer_offsets'

),

runs as (

    select * from {{ ref('stg_state__runs') }}

),

reasons as (

    select * from {{ ref('reason_codes') }}

    where decision_table = 'listed_groups'

),

listings_reasoned as (

    select
        listings.*,
        coalesce(groups_recorded.is_in_records, false) as is_in_records,
        coalesce(offsets_waiting.waiting_offset_count, 0)
            as waiting_offset_count,
        case
            when groups_recorded.is_in_records then 'IN_RECORDS'
            when
                offsets_waiting.waiting_offset_count > 0
                then 'OPEN_TRANSACTION'
            when consumer_offsets.hidden_offsets > 0 then 'BEHIND_TRANSACTION'
            {# what was read up to when the load that first listed it so began
               has all that the group was when it was listed #}
            when
                consumer_offsets.known_up_to_at
                >= timestamp_millis(runs.started_at_ms)
                then 'NOTHING_COMMITTED'
            else 'NOT_READ_YET'
        end as reason_code

    from listings

    left join groups_recorded using (cluster_id, group_id)

    left join offsets_waiting using (cluster_id, group_id)

    left join consumer_offsets
        on listings.cluster_id = consumer_offsets.cluster_id

    left join runs
        on listings.changed_in_run_id = runs.run_id

),

listed_groups as (

    select
        listings_reasoned.cluster_id,
        listings_reasoned.group_id,
        listings_reasoned.group_type,
        listings_reasoned.group_state,
        listings_reasoned.protocol_type,
        listings_reasoned.coordinator_id,
        listings_reasoned.is_simple,
        timestamp_millis(listings_reasoned.taken_at_ms) as listed_at,
        listings_reasoned.is_in_records,
        listings_reasoned.waiting_offset_count,
        listings_reasoned.reason_code,
        reasons.reason_text

    from listings_reasoned

    inner join reasons using (reason_code)

)

select * from listed_groups
