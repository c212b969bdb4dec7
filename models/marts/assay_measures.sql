{#- The registry (macros/assay_measures.sql) as a table. -#}
with

final as (

    {% for measure in assay_measures() %}
    select
        cast('{{ measure.name | replace("'", "''") }}' as {{ dbt.type_string() }}) as measure,
        cast('{{ measure.grain }}' as {{ dbt.type_string() }}) as grain,
        cast({{ loop.index }} as {{ dbt.type_bigint() }}) as position,
        cast({{ "'cut off at k'" if assay_grains()[measure.grain].k != 'null' else "'no cutoff'" }} as {{ dbt.type_string() }}) as cutoff,
        cast('{{ measure.unit | replace("'", "''") }}' as {{ dbt.type_string() }}) as unit,
        cast({{ measure.lowest }} as double) as lowest,
        cast({{ measure.highest }} as double) as highest,
        {{ 'true' if measure.needs_judgments else 'false' }} as is_judgment_needed,
        cast('{{ measure.definition | replace("'", "''") }}' as {{ dbt.type_string() }}) as definition,
        cast('{{ measure.source | replace("'", "''") }}' as {{ dbt.type_string() }}) as source
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}

)

select * from final
