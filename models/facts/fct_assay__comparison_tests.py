"""The tests of the planned comparisons, made by analyses.comparisons."""

from analyses.comparisons import comparison_tests
from analyses.frames import read_frame


def model(dbt, session):
    dbt.config(materialized="table")
    planned = read_frame(dbt.ref("fct_assay__planned_comparisons"))
    values = read_frame(dbt.ref("fct_assay__comparison_values"))
    return comparison_tests(planned, values, draws=dbt.config.get("draws"))
