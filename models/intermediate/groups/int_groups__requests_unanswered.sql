with

clusters as (

    select * from {{ ref('int_groups__clusters_configured') }}

),

requests as (

    select * from {{ ref('int_groups__requests_loaded') }}

),

runs as (

    select * from {{ ref('stg_state__runs') }}

),

runs_of_clusters as (

    select
        run_id,
        explode(cluster_ids) as cluster_id

    from runs

    where
        kind = 'requests'
        and status = 'succeeded'
        and not is_dry_run

),

{# a run handles whatever was loaded before it #}
clusters_handled as (

    select
        cluster_id,
        max(run_id) as handled_in_run_id

    from runs_of_clusters

    group by cluster_id

),

requests_unanswered as (

    select
        requests.*,
        clusters.run_id,
        clusters.is_applied,
        {{ call_id(
            'clusters.run_id',
            'clusters.cluster_id',
            'requests.request_kind',
            'requests.request_id',
            'requests.group_id'
        ) }} as call_id

    from requests

    inner join clusters using (cluster_id)

    left join clusters_handled using (cluster_id)

    where
        requests.loaded_in_run_id
        > coalesce(clusters_handled.handled_in_run_id, '')
        and requests.loaded_in_run_id < clusters.run_id

)

select * from requests_unanswered  -- noqa: AM04
