{#-
The places k at which lists are scored: the var assay_cutoffs, sorted. The literals of the discount reach to rank 1,000.
-#}
{% macro assay_cutoffs() %}
    {%- set cutoffs = [] -%}
    {%- for k in var('assay_cutoffs', [1, 3, 5, 10]) -%}
        {%- if k is not integer or k is boolean or k < 1 or k > 1000 -%}
            {{ exceptions.raise_compiler_error('assay_cutoffs: ' ~ k ~ ' is no whole number from 1 to 1000') }}
        {%- endif -%}
        {%- if k not in cutoffs -%}{%- do cutoffs.append(k) -%}{%- endif -%}
    {%- endfor -%}
    {%- if not cutoffs -%}
        {{ exceptions.raise_compiler_error('assay_cutoffs names no cutoff') }}
    {%- endif -%}
    {{ return(cutoffs | sort) }}
{% endmacro %}


{#- The smallest number that 1, 2, …, n all divide. -#}
{% macro assay_lcm_to(n) %}
    {%- set state = namespace(lcm=1, a=0, b=0) -%}
    {%- for i in range(2, n + 1) -%}
        {%- set state.a = state.lcm -%}
        {%- set state.b = i -%}
        {#- Euclid; a number up to 30 needs fewer than 10 steps. -#}
        {%- for _ in range(10) if state.b != 0 -%}
            {%- if state.b != 0 -%}
                {%- set rest = state.a % state.b -%}
                {%- set state.a = state.b -%}
                {%- set state.b = rest -%}
            {%- endif -%}
        {%- endfor -%}
        {%- set state.lcm = state.lcm // state.a * i -%}
    {%- endfor -%}
    {{ return(state.lcm) }}
{% endmacro %}


{#-
The unit in which the sum of precision@i over the first k places is an integer: lcm(1, …, k) up to k = 30, where the sum is exact;
beyond that the lcm outgrows a bigint, and each term is cut to 15 decimal places.
-#}
{% macro assay_precision_unit(k) %}
    {{ return(assay_lcm_to(k) if k <= 30 else 10 ** 15) }}
{% endmacro %}
