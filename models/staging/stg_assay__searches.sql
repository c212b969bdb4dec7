with

source as (

    select * from {{ assay_raw('searches') }}

),

final as (

    select
        recording_id,
        trace_id,
        search,
        seq,
        step,
        step_at,
        query,
        has_results,
        n_attempts,
        n_errors,
        error,
        call_id,
        extra
    from source

)

select * from final
