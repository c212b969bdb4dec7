"""Means and their intervals, made by analyses.intervals, for the recordings that are due."""

from analyses.frames import read_frame
from analyses.intervals import measure_intervals


def model(dbt, session):
    dbt.config(materialized="assay_by_key", assay_key="recording_id")
    due = dbt.ref("fct_assay__value_counts").filter("true /* of what is due */")
    return measure_intervals(read_frame(due), draws=dbt.config.get("draws"))
