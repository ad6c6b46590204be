with

commits_replayed as (

    select * from {{ ref('int_mirrors__commits_replayed') }}

),

{# what is emitted guards what comes after it: a fold, no window #}
commits_gathered as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        array_sort(
            collect_list(
                struct(
                    log_offset,
                    committed_offset,
                    commit_at_ms,
                    incarnation,
                    translated_offset,
                    sync_log_offset
                )
            )
        ) as commits

    from commits_replayed

    group by
        flow,
        group_id,
        topic_name,
        partition_index

),

commits_guarded as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        commits,
        aggregate(
            commits,
            cast(
                named_struct(
                    'upstream_offset', null,
                    'downstream_offset', null,
                    'incarnation', null,
                    'reason_codes', array()
                ) as {{ backtest_state_type() }}
            ),
            {{ backtest_step() }}
        ).reason_codes as reason_codes

    from commits_gathered

),

commits_placed as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        inline(
            arrays_zip(commits, reason_codes)
        ) as (replayed, reason_code)

    from commits_guarded

),

translation_backtest as (

    select
        flow,
        group_id,
        topic_name,
        partition_index,
        replayed.log_offset,
        replayed.committed_offset,
        replayed.translated_offset,
        if(startswith(reason_code, 'EMIT_'), 'emit', 'skip') as decision,
        reason_code,
        replayed.sync_log_offset,
        replayed.incarnation,
        {{ instant('replayed.commit_at_ms') }} as committed_at

    from commits_placed

)

select * from translation_backtest
