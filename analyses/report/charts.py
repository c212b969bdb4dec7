"""The kinds of charts. Data are inline lists of small mappings; every series has a shape as well as a colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from analyses.report.drawing import LABEL, Row, colour, finished, series_scale, values


def _count_axis(most: float) -> alt.Axis:
    """Whole numbers alone."""
    return alt.Axis(format="d", values=list(range(int(most) + 1))) if most <= 6 else alt.Axis(format="d")


def unit_axis(title: str) -> alt.X:
    """A quantity from 0 to 1 along x."""
    return alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f"),
    )


def bars(rows: Sequence[Row], title: str, names: Sequence[str], floors: Sequence[str] = ()) -> Any:
    """Horizontal bars of counts: `what` by `series`, each with its series and count written at its end."""
    what = list(dict.fromkeys(str(row["what"]) for row in rows))
    most = max((row["value"] for row in rows), default=0)
    base = alt.Chart().encode(
        y=alt.Y(
            "what:N", title=None, sort=what, axis=alt.Axis(labelLimit=LABEL + 40, ticks=False, domain=False)
        ),
        yOffset=alt.YOffset("series:N", sort=list(names)),
        x=alt.X(
            "value:Q",
            title=title,
            scale=alt.Scale(domain=[0, most * 1.7 or 1]),
            axis=alt.Axis(tickMinStep=1),
        ),
    )
    bar = base.mark_bar(height=11).encode(
        color=alt.Color("series:N", scale=series_scale(names, floors)["color"], legend=None),
        tooltip=[alt.Tooltip("what:N", title="what"), alt.Tooltip("series:N", title="retriever"),
                 alt.Tooltip("value:Q", title="count")],
    )  # fmt: skip
    label = base.mark_text(align="left", dx=4, fontSize=11, limit=140).encode(text="label:N")
    written = [dict(row) | {"label": f"{row['series']}: {row['value']:,}"} for row in rows]
    return finished(alt.layer(bar, label, data=values(written)), alt.Step(17))


def intervals(rows: Sequence[Row], title: str, floors: Sequence[str] = (), rule: float | None = None) -> Any:
    """Means with their intervals, one line a row of `label`.

    A row has `label`, `series`, `value` and, where they are known, `low` and `high` (the interval), `upper` (up to where the
    unjudged may lift the mean) and `ceiling` (the best that was possible). `rule` is a dashed line across all.
    """
    labels = list(dict.fromkeys(str(row["label"]) for row in rows))
    names = list(dict.fromkeys(str(row["series"]) for row in rows))
    scales = series_scale(names, floors)
    base = alt.Chart().encode(
        y=alt.Y("label:N", title=None, sort=labels, axis=alt.Axis(ticks=False, domain=False))
    )
    tooltip = [alt.Tooltip("label:N", title="what"), alt.Tooltip("value:Q", title="mean", format=".3f")]
    tooltip += [
        alt.Tooltip(f"{key}:Q", title=name, format=".3f")
        for key, name in (
            ("low", "interval from"),
            ("high", "to"),
            ("upper", "unjudged as exact"),
            ("ceiling", "ceiling"),
        )
        if any(row.get(key) is not None for row in rows)
    ]
    coloured = alt.Color("series:N", scale=scales["color"], legend=None)
    layers = [
        base.mark_bar(height=18, color=colour("band")).encode(x=unit_axis(title), x2="upper:Q"),
        base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", color=coloured),
        base.mark_tick(thickness=2, size=24, color=colour("ink")).encode(x="ceiling:Q"),
        base.mark_point(filled=True, size=110, opacity=1).encode(
            x="value:Q",
            color=coloured,
            shape=alt.Shape("series:N", scale=scales["shape"], legend=None),
            tooltip=tooltip,
        ),
        base.mark_text(dy=-13, fontSize=11).encode(x="value:Q", text=alt.Text("value:Q", format=".3f")),
    ]
    if rule is not None:
        line = alt.Chart(values([{"at": rule}])).mark_rule(
            strokeDash=[4, 3], color=colour("edge"), strokeWidth=1.5
        )
        layers.append(line.encode(x="at:Q", tooltip=[alt.Tooltip("at:Q", title="random", format=".3f")]))
    return finished(alt.layer(*layers, data=values(rows)), alt.Step(46))


def lines(
    rows: Sequence[Row], title: str, names: Sequence[str], floors: Sequence[str] = (), is_named: bool = True
) -> Any:
    """Means at each k, a line a series; rows of `series` with `is_bound` are dashed and without points."""
    scales = series_scale(names, floors)
    legend = alt.Legend() if is_named else None
    base = alt.Chart(values(rows)).encode(
        x=alt.X("k:O", title="k", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", title=title, scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("series:N", scale=scales["color"], legend=legend),
        tooltip=[alt.Tooltip("series:N", title="run"), alt.Tooltip("k:O"), alt.Tooltip("value:Q", title=title, format=".3f")],
    )  # fmt: skip
    line = base.mark_line(strokeWidth=1.5).encode(
        strokeDash=alt.condition("datum.is_bound", alt.value([4, 3]), alt.value([1, 0])), detail="series:N"
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        shape=alt.Shape("series:N", scale=scales["shape"], legend=legend)
    )
    return finished(alt.layer(line, points), 220)


def scatter(
    rows: Sequence[Row], x_title: str, y_title: str, names: Sequence[str], floors: Sequence[str] = ()
) -> Any:
    """Pairs of shares, `x` and `value`; a mark's size is how many queries lie there."""
    scales = series_scale(names, floors)
    scale = alt.Scale(domain=[-0.03, 1.03])
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f")
    tooltip = [
        alt.Tooltip("series:N", title="retriever"),
        alt.Tooltip("x:Q", title=x_title, format=".3f"),
        alt.Tooltip("value:Q", title=y_title, format=".3f"),
        alt.Tooltip("n:Q", title="answers"),
    ]
    chart = alt.Chart(values(rows)).mark_point(strokeWidth=2, opacity=0.9)
    return finished(
        chart.encode(
            x=alt.X("x:Q", title=x_title, scale=scale, axis=axis),
            y=alt.Y("value:Q", title=y_title, scale=scale, axis=axis),
            size=alt.Size("n:Q", scale=alt.Scale(range=[40, 600]), legend=None),
            color=alt.Color("series:N", scale=scales["color"], legend=alt.Legend()),
            shape=alt.Shape("series:N", scale=scales["shape"], legend=alt.Legend()),
            tooltip=tooltip,
        ),
        260,
    )


def columns(rows: Sequence[Row], x_title: str, y_title: str) -> Any:
    """Upright bars of counts at `x`, in the rows' order, the count above each that isn't 0."""
    order = list(dict.fromkeys(str(row["x"]) for row in rows))
    most = max((row["value"] for row in rows), default=0)
    base = alt.Chart(values(rows)).encode(
        x=alt.X("x:N", title=x_title, sort=order, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        y=alt.Y(
            "value:Q", title=y_title, scale=alt.Scale(domain=[0, most * 1.1 or 1]), axis=_count_axis(most)
        ),
        tooltip=[alt.Tooltip("x:N", title=x_title), alt.Tooltip("value:Q", title=y_title)],
    )
    written = alt.condition("datum.value > 0", alt.Text("value:Q"), alt.value(""))
    return finished(
        alt.layer(
            base.mark_bar(color=colour("s1")),
            base.mark_text(dy=-6, fontSize=11).encode(text=written),
        ),
        200,
    )


def forest(rows: Sequence[Row]) -> Any:
    """Mean differences with their intervals about 0, the `label` in words above each; established ones are filled."""
    labels = [str(row["label"]) for row in rows]
    ends = [abs(row[key]) for row in rows for key in ("value", "low", "high") if row.get(key) is not None]
    reach = max([0.05, *ends]) * 1.15
    base = alt.Chart().encode(y=alt.Y("label:N", sort=labels, axis=None))
    x = alt.Scale(domain=[-reach, reach])
    axis = alt.Axis(tickCount=6, format="+.2f")
    title = "mean difference; to the right: higher than the baseline"
    tooltip = [
        alt.Tooltip("label:N", title="comparison"),
        alt.Tooltip("value:Q", title="mean difference", format="+.3f"),
        alt.Tooltip("low:Q", title="interval from", format="+.3f"),
        alt.Tooltip("high:Q", title="to", format="+.3f"),
    ]
    zero = alt.Chart(values([{"at": 0}])).mark_rule(color=colour("edge"), strokeWidth=1.5).encode(x="at:Q")
    layers = [
        zero,
        base.mark_rule(strokeWidth=2, color=colour("s1")).encode(
            x=alt.X("low:Q", scale=x, axis=axis, title=title), x2="high:Q"
        ),
        base.mark_point(size=120, strokeWidth=2, opacity=1, shape="diamond", color=colour("s1")).encode(
            x=alt.X("value:Q", scale=x, title=title),
            tooltip=tooltip,
            fill=alt.condition("datum.is_established", alt.value(colour("s1")), alt.value(colour("card"))),
        ),
        base.mark_text(align="left", dy=-17, limit=900).encode(x=alt.value(4), text="label:N"),
    ]
    return finished(alt.layer(*layers, data=values(rows)), alt.Step(52))


def differences(rows: Sequence[Row], title: str) -> Any:
    """Differences query by query, wins to the right and losses to the left, each with its size."""
    order = [str(row["label"]) for row in rows]
    low, high = min([0, *(r["value"] for r in rows)]), max([0, *(r["value"] for r in rows)])
    room = 0.22 * (high - low)
    domain = [low - room if low < 0 else 0, high + room if high > 0 else 0]
    base = alt.Chart(values(rows)).encode(
        y=alt.Y(
            "label:N", title=None, sort=order, axis=alt.Axis(ticks=False, domain=False, labelLimit=LABEL + 40)
        ),
        x=alt.X(
            "value:Q", title=title, scale=alt.Scale(domain=domain, nice=False), axis=alt.Axis(tickCount=5)
        ),
        tooltip=[
            alt.Tooltip("label:N", title="query"),
            alt.Tooltip("value:Q", title="difference", format="+.3f"),
        ],
    )
    bar = base.mark_bar(height=11).encode(
        color=alt.condition("datum.value > 0", alt.value(colour("s1")), alt.value(colour("s2")))
    )
    size = base.mark_text(
        align=alt.ExprRef("datum.value > 0 ? 'left' : 'right'"),
        dx=alt.ExprRef("datum.value > 0 ? 4 : -4"),
        fontSize=11,
    ).encode(text=alt.Text("value:Q", format="+.2f"))
    return finished(alt.layer(bar, size), alt.Step(18))
