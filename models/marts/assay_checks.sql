with

checks as (

    select * from {{ ref('stg_assay__checks') }}

),

quarantine as (

    select * from {{ ref('stg_assay__quarantine') }}

),

-- The first line of each file stands for the others.
first_lines as (

    select
        kind,
        name,
        file,
        min(line) as line,
        count(*) as n_lines
    from quarantine
    group by kind, name, file

),

quarantined as (

    select
        first_lines.kind,
        first_lines.name,
        'quarantined' as check_name,
        'warning' as severity,
        first_lines.file,
        first_lines.n_lines as observed,
        'line ' || cast(first_lines.line as {{ dbt.type_string() }}) || ': ' || quarantine.reason as message
    from first_lines
    inner join quarantine
        on
            first_lines.kind = quarantine.kind
            and first_lines.name = quarantine.name
            and first_lines.file = quarantine.file
            and first_lines.line = quarantine.line

),

final as (

    select
        kind,
        name,
        check_name,
        severity,
        file,
        cast(observed as {{ dbt.type_bigint() }}) as observed,
        message
    from checks

    union all

    select
        kind,
        name,
        check_name,
        severity,
        file,
        cast(observed as {{ dbt.type_bigint() }}) as observed,
        message
    from quarantined

)

select * from final
