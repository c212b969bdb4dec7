-- Every measure of the package, a macro measure_<name>, stands in the registry once; otherwise nobody sees what it measures.
-- Fails with the names that don't.
{% set registered = assay_measures() | map(attribute='name') | list %}
{% set wrong = [] %}
{% if execute %}
    {% for name in context['assay'].keys() if name.startswith('measure_') %}
        {% if registered.count(name[8:]) != 1 %}{% do wrong.append(name[8:]) %}{% endif %}
    {% endfor %}
    {% for name in registered if registered.count(name) != 1 and name not in wrong %}
        {% do wrong.append(name) %}
    {% endfor %}
{% endif %}

{% for name in wrong %}
select '{{ name }}' as measure
union all
{% endfor %}
select measure
from {{ ref('assay_measures') }}
where measure not in ('{{ registered | join("', '") }}')
