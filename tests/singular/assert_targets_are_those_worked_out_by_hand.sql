-- TARGET of KIP-526 in whole numbers, as its draft divides and as its revision multiplies.
with

worked_out as (

    select
        cast(n as bigint) as n,
        cast(evict_ms as bigint) as evict_ms,
        draft,
        revised

    from
        values
        (0, 300000, 20, 20),
        (1, 300000, 20, 20),
        (20, 300000, 20, 20),
        (599, 300000, 20, 20),
        (899, 300000, 20, 20),
        (900, 300000, 20, 30),
        (5999, 300000, 20, 190),
        (6000, 300000, 20, 200),
        (59999, 300000, 20, 1990),
        (62999, 300000, 20, 2090),
        (63000, 300000, 21, 2100),
        (1000000, 300000, 333, 33330),
        (1000, 1000, 100, 10000),
        (1000000, 1999, 100000, 10000000),
        (6000, 5000, 120, 12000),
        (6000, 3600000, 20, 20),
        (60000, 3600000, 20, 160)
            as worked_out (n, evict_ms, draft, revised)

),

computed as (

    select
        n,
        evict_ms,
        draft,
        revised,
        {{ target_fetch_size('n', 'evict_ms', "'/10'") }} as draft_computed,
        {{ target_fetch_size('n', 'evict_ms', "'*10'") }} as revised_computed

    from worked_out

)

select * from computed

where draft <> draft_computed or revised <> revised_computed
