{# A log that is read from its start has the record of a group (2, 3, 11, 17)
   wherever it has a part of it: compaction keeps the latest of every key. So a
   part without one says that what was loaded begins behind it. Offsets above 0
   say nothing, for compaction removes old records; commits neither, for they
   make a group themselves. Only groups of which this load brings a part and no
   record of their own are looked up. #}
with

records as (

    select * from {{ ref('stg_run__records') }}

    where group_id is not null and record_type between 2 and 23

),

parts_brought as (

    select
        cluster_id,
        group_id

    from records

    group by
        cluster_id,
        group_id

    having
        max(
            record_type not in (2, 3, 11, 17) and not is_tombstone
        )
        and not max(record_type in (2, 3, 11, 17))

),

groups_recorded as (

    select * from {{ ref('stg_state__group_records') }}

    where record_type in (2, 3, 11, 17)

),

groups_known_in_part as (

    select parts_brought.*

    from parts_brought

    left anti join groups_recorded using (cluster_id, group_id)

)

select * from groups_known_in_part
