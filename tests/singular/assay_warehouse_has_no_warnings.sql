-- What only the warehouse can see, and the project calls a warning. Warns with each.
{{ config(severity = 'warn') }}

select
    kind,
    name,
    check_name,
    message
from {{ ref('fct_assay__warehouse_checks') }}
where
    status = 'failed'
    and severity = 'warning'
