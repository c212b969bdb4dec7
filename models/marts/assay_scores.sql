{{ config(materialized='view') }}

{#- One select a measure, from the mart of its grain; the formula is the measure's own macro. -#}
{% set grains = assay_grains() %}

with

{% for measure in assay_measures() %}
{% set grain = grains[measure.grain] %}
measure_{{ measure.name }} as (

    select
        recording_id,
        retriever,
        query_id,
        trial,
        '{{ measure.name }}' as measure,
        cast({{ grain.k }} as {{ dbt.type_bigint() }}) as k,
        {{ assay_numerator(measure) }} as numerator,
        {{ assay_denominator(measure) }} as denominator,
        cast({{ assay_value(measure) }} as double) as value,
        is_asked,
        is_missing,
        {{ grain.is_broken }} as is_broken
    from {{ ref(grain.model) }}

),

{% endfor %}
final as (

    {% for measure in assay_measures() %}
    select * from measure_{{ measure.name }}
    {% if not loop.last %}
    union all
    {% endif %}
    {% endfor %}

)

select * from final
