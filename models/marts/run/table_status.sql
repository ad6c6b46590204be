with

tables_counted as (

    select
        'raw.records' as table_name,
        count(*) as row_count,
        max(run_id) as last_run_id

    from {{ ref('stg_raw__records') }}

    union all

    select
        'decoded.group_records' as table_name,
        count(*) as row_count,
        max(run_id) as last_run_id

    from {{ ref('stg_decoded__group_records') }}

    union all

    select
        'state.groups' as table_name,
        count(*) as row_count,
        max(changed_in_run_id) as last_run_id

    from {{ ref('stg_state__groups') }}

    union all

    select
        'state.group_offsets' as table_name,
        count(*) as row_count,
        max(changed_in_run_id) as last_run_id

    from {{ ref('stg_state__group_offsets') }}

    union all

    select
        'state.group_records' as table_name,
        count(*) as row_count,
        cast(null as string) as last_run_id

    from {{ ref('stg_state__group_records') }}

    union all

    select
        'state.open_transactions' as table_name,
        count(*) as row_count,
        max(run_id) as last_run_id

    from {{ ref('stg_state__open_transactions') }}

    union all

    select
        'state.partition_states' as table_name,
        count(*) as row_count,
        max(run_id) as last_run_id

    from {{ ref('stg_state__partition_states') }}

    union all

    select
        'state.settings' as table_name,
        count(*) as row_count,
        max(run_id) as last_run_id

    from {{ ref('stg_state__settings') }}

    union all

    select
        'state.runs' as table_name,
        count(*) as row_count,
        max(run_id) as last_run_id

    from {{ ref('stg_state__runs') }}

    union all

    select
        'history.decision_changes' as table_name,
        count(*) as row_count,
        max(run_id) as last_run_id

    from {{ ref('stg_history__decision_changes') }}

),

table_status as (

    select
        table_name,
        row_count,
        last_run_id

    from tables_counted

)

select * from table_status
