{#-
From a measure's formula to SQL, with the rules that hold for all measures: undefined (null) where what is measured is unknown,
where the measure needs judgments and the query has none, and where there is nothing to divide by.

A formula (macro measure_<name>) is a dict of SQL expressions over the columns of its grain's mart: numerator and denominator, both
integer, and value only where the quotient of the two is not it.
-#}

{#- The formula of a measure. -#}
{% macro assay_formula(measure) %}
    {%- set name = 'measure_' ~ measure.name -%}
    {%- if name not in context -%}
        {{ exceptions.raise_compiler_error('The registry names ' ~ measure.name ~ ', but there is no macro ' ~ name) }}
    {%- endif -%}
    {{ return(context[name]()) }}
{% endmacro %}


{#- The condition under which a measure can have a value at all. -#}
{% macro assay_is_measured(measure) %}
    {%- set is_known = assay_grains()[measure.grain].is_known -%}
    {{ return(is_known ~ (' and has_judgments' if measure.needs_judgments else '')) }}
{% endmacro %}


{#- The value as a double; null where undefined. The one division is the last step. -#}
{% macro assay_value(measure) %}
    {%- set formula = assay_formula(measure) -%}
    {%- set value -%}
        {%- if 'value' in formula -%}
            {{ formula.value }}
        {%- else -%}
            cast({{ formula.numerator }} as double) / nullif({{ formula.denominator }}, 0)
        {%- endif -%}
    {%- endset -%}
    {{ return('case when ' ~ assay_is_measured(measure) ~ ' then ' ~ value ~ ' end') }}
{% endmacro %}


{#- The integer numerator; null where the value is undefined, or is no quotient of integers. -#}
{% macro assay_numerator(measure) %}
    {%- set formula = assay_formula(measure) -%}
    {%- if 'numerator' not in formula -%}
        {{ return('cast(null as ' ~ dbt.type_bigint() ~ ')') }}
    {%- endif -%}
    {{ return(
        'cast(case when ' ~ assay_is_measured(measure) ~ ' and (' ~ formula.denominator ~ ') != 0 then ' ~ formula.numerator
        ~ ' end as ' ~ dbt.type_bigint() ~ ')'
    ) }}
{% endmacro %}


{#- The integer denominator; null where the numerator is. -#}
{% macro assay_denominator(measure) %}
    {%- set formula = assay_formula(measure) -%}
    {%- if 'denominator' not in formula -%}
        {{ return('cast(null as ' ~ dbt.type_bigint() ~ ')') }}
    {%- endif -%}
    {{ return(
        'cast(case when ' ~ assay_is_measured(measure) ~ ' and (' ~ formula.numerator ~ ') is not null then nullif('
        ~ formula.denominator ~ ', 0) end as ' ~ dbt.type_bigint() ~ ')'
    ) }}
{% endmacro %}
