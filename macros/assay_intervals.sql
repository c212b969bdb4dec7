{#-
Intervals that need no resampling, as SQL expressions over a row's counts. One level, 95%: its normal quantile is a literal, since engines have no
quantile function, or differ in the last bit.
-#}

{#- The level. -#}
{% macro assay_interval_level() %}{{ return('cast(0.95 as double)') }}{% endmacro %}


{#- The standard normal's quantile at 0.975. -#}
{% macro assay_interval_z() %}{{ return('cast(1.959963984540054 as double)') }}{% endmacro %}


{#-
Wilson's score interval of a share (Wilson 1927): hits of n, both expressions, n above 0. Returns low and high. Hits needn't be whole: the sum of
values in [0, 1] has no more variance than that of as many yes/no ones with the same mean, so the interval is then wider than it need be.
-#}
{% macro assay_wilson(hits, n) %}
    {%- set hits = 'cast(' ~ hits ~ ' as double)' -%}
    {%- set n = 'cast(' ~ n ~ ' as double)' -%}
    {%- set z = assay_interval_z() -%}
    {%- set centre = '(' ~ hits ~ ' + ' ~ z ~ ' * ' ~ z ~ ' / 2)' -%}
    {%- set half = z ~ ' * sqrt(' ~ hits ~ ' * (' ~ n ~ ' - ' ~ hits ~ ') / ' ~ n ~ ' + ' ~ z ~ ' * ' ~ z ~ ' / 4)' -%}
    {%- set whole = '(' ~ n ~ ' + ' ~ z ~ ' * ' ~ z ~ ')' -%}
    {{ return({
        'low': 'case when ' ~ hits ~ ' = 0 then cast(0 as double) else greatest((' ~ centre ~ ' - ' ~ half ~ ') / ' ~ whole ~ ', cast(0 as double)) end',
        'high': 'case when ' ~ hits ~ ' = ' ~ n ~ ' then cast(1 as double) else least((' ~ centre ~ ' + ' ~ half ~ ') / ' ~ whole ~ ', cast(1 as double)) end',
    }) }}
{% endmacro %}
