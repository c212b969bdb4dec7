-- What only the warehouse can see, and the project calls an error. Fails with each.
select
    kind,
    name,
    check_name,
    message
from {{ ref('fct_assay__warehouse_checks') }}
where
    status = 'failed'
    and severity = 'error'
