"""Means and their intervals, made by analyses.intervals."""

from analyses.frames import read_frame
from analyses.intervals import measure_intervals


def model(dbt, session):
    dbt.config(materialized="table")
    return measure_intervals(read_frame(dbt.ref("fct_assay__value_counts")), draws=dbt.config.get("draws"))
