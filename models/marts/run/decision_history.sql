with

decision_changes as (

    select * from {{ ref('stg_history__decision_changes') }}

),

reasons as (

    select distinct
        domain,
        reason_code,
        decision,
        split(decision_table, '_')[0] as about,
        reason_text

    from {{ ref('reason_codes') }}

),

decision_history as (

    select
        decision_changes.domain,
        decision_changes.cluster_id,
        decision_changes.subject,
        decision_changes.run_id,
        decision_changes.decision,
        decision_changes.reason_code,
        reasons.reason_text,
        decision_changes.previous_decision,
        decision_changes.previous_reason_code,
        decision_changes.ruleset,
        timestamp_millis(decision_changes.decided_at_ms) as decided_at

    from decision_changes

    left join reasons
        on
            decision_changes.domain = reasons.domain
            and decision_changes.reason_code = reasons.reason_code
            {# of a topic that is forgotten first the clause is told by which it is fetched #}
            and if(
                decision_changes.decision = 'evict_and_fetch',
                'fetch',
                decision_changes.decision
            ) = reasons.decision
            and reasons.about = case split(decision_changes.subject, ' ')[0]
                when 'sweep' then 'group'
                when 'translation' then 'offset'
                when 'round' then 'metadata'
                else split(decision_changes.subject, ' ')[0]
            end

)

select * from decision_history
