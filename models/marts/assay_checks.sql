with

load_checks as (

    select * from {{ ref('stg_assay__checks') }}

),

warehouse_checks as (

    select * from {{ ref('fct_assay__warehouse_checks') }}

),

final as (

    select
        kind,
        name,
        check_name,
        severity,
        status,
        file,
        observed,
        allowed,
        message,
        examples
    from load_checks

    union all

    select
        kind,
        name,
        check_name,
        severity,
        status,
        '' as file,
        observed,
        cast(0 as {{ dbt.type_bigint() }}) as allowed,
        message,
        examples
    from warehouse_checks

)

select * from final
