{#-
The rows of a seed as literals. dbt-spark's own macro makes the text None of an empty field, and ends a text at its first quote. In a project that
installs this one, dbt finds this macro where `dispatch` in its dbt_project.yml lists assay before dbt.
-#}
{% macro spark__load_csv_rows(model, agate_table) %}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set statements = [] -%}
    {%- for chunk in agate_table.rows | batch(get_batch_size()) -%}
        {%- set rows = [] -%}
        {%- for row in chunk -%}
            {%- set values = [] -%}
            {%- for value in row -%}
                {%- set name = agate_table.column_names[loop.index0] -%}
                {%- set type = types.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
                {%- set text = 'null' if value is none else "'" ~ value | string | replace('\\', '\\\\') | replace("'", "\\'") ~ "'" -%}
                {%- do values.append('cast(' ~ text ~ ' as ' ~ type ~ ')') -%}
            {%- endfor -%}
            {%- do rows.append('(' ~ values | join(', ') ~ ')') -%}
        {%- endfor -%}
        {%- set sql = 'insert into ' ~ this.render() ~ ' values ' ~ rows | join(', ') -%}
        {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
        {%- do statements.append(sql) -%}
    {%- endfor -%}
    {{ return(statements[0] if statements else '') }}
{% endmacro %}
