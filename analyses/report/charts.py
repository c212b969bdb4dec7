"""Altair charts of the report's kinds. Colours are CSS variables, so that both modes and print need no second drawing.

Data are inline lists of small mappings; every series has a shape as well as a colour, and every chart a table beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import vl_convert

from analyses.report import theme

#: The version of Vega-Lite that the charts are written in and drawn by.
VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'
_VARIABLE = re.compile(r"var\(--([a-z0-9-]+)\)")
#: The longest label beside an axis, in pixels.
_LABEL = 150

Row = Mapping[str, Any]


def colour(name: str) -> str:
    """A colour of the theme as charts name it."""
    return f"var(--{name})"


def values(rows: Sequence[Row]) -> alt.InlineData:
    """Rows as a chart's data."""
    return alt.InlineData(values=[dict(row) for row in rows])


def series_scale(names: Sequence[str], floors: Sequence[str] = ()) -> dict[str, alt.Scale]:
    """Scales of colour and shape for series in their order; floors are grey."""
    plain = [n for n in names if n not in floors]
    colours = {n: colour(theme.SERIES[i % len(theme.SERIES)]) for i, n in enumerate(plain)}
    shapes = {n: theme.SHAPES[i % len(theme.SHAPES)] for i, n in enumerate(plain)}
    return {
        "color": alt.Scale(domain=list(names), range=[colours.get(n, colour("floor")) for n in names]),
        "shape": alt.Scale(domain=list(names), range=[shapes.get(n, "stroke") for n in names]),
    }


def finished(chart: Any, height: Any = None) -> Any:
    """A chart in the report's look: as wide as its place, transparent, quiet axes."""
    sized = chart.properties(width="container", **({} if height is None else {"height": height}))
    axis = {
        "labelColor": colour("soft"), "titleColor": colour("soft"), "gridColor": colour("line"),
        "domainColor": colour("edge"), "tickColor": colour("edge"), "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": "normal", "labelLimit": _LABEL,
    }  # fmt: skip
    return (
        sized.configure(background="transparent", font=_FONT, autosize=alt.AutoSizeParams(type="fit-x", contains="padding"))
        .configure_axis(**axis)
        .configure_view(stroke=None)
        .configure_text(color=colour("ink"), fontSize=12)
        .configure_legend(
            labelColor=colour("ink"), titleColor=colour("soft"), labelFontSize=12, orient="bottom", columns=1, title=None,
            labelLimit=320, symbolStrokeWidth=2,
        )
    )  # fmt: skip


def unit_axis(title: str) -> alt.X:
    """A quantity from 0 to 1 along x."""
    return alt.X(
        "value:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1])
    )


def bars(rows: Sequence[Row], title: str, names: Sequence[str], floors: Sequence[str] = ()) -> Any:
    """Horizontal bars of counts: `what` by `series`, each with its series and count written at its end."""
    what = list(dict.fromkeys(str(row["what"]) for row in rows))
    most = max((row["value"] for row in rows), default=0)
    base = alt.Chart().encode(
        y=alt.Y(
            "what:N", title=None, sort=what, axis=alt.Axis(labelLimit=_LABEL + 40, ticks=False, domain=False)
        ),
        yOffset=alt.YOffset("series:N", sort=list(names)),
        x=alt.X(
            "value:Q",
            title=title,
            scale=alt.Scale(domain=[0, most * 1.35 or 1]),
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
    chart = (
        alt.Chart(values(rows))
        .mark_point(strokeWidth=2, opacity=0.9)
        .encode(
            x=alt.X("x:Q", title=x_title, scale=alt.Scale(domain=[-0.03, 1.03]), axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1])),
            y=alt.Y("value:Q", title=y_title, scale=alt.Scale(domain=[-0.03, 1.03]), axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1])),
            size=alt.Size("n:Q", scale=alt.Scale(range=[40, 600]), legend=None),
            color=alt.Color("series:N", scale=scales["color"], legend=alt.Legend()),
            shape=alt.Shape("series:N", scale=scales["shape"], legend=alt.Legend()),
            tooltip=[alt.Tooltip("series:N", title="retriever"), alt.Tooltip("x:Q", title=x_title, format=".3f"),
                     alt.Tooltip("value:Q", title=y_title, format=".3f"), alt.Tooltip("n:Q", title="queries")],
        )
    )  # fmt: skip
    return finished(chart, 260)


def columns(
    rows: Sequence[Row], x_title: str, y_title: str, names: Sequence[str] = (), is_labelled: bool = True
) -> Any:
    """Upright bars of counts at `x`, in the rows' order; side by side where there are several series."""
    order = list(dict.fromkeys(str(row["x"]) for row in rows))
    base = alt.Chart(values(rows)).encode(
        x=alt.X("x:N", title=x_title, sort=order, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
        y=alt.Y("value:Q", title=y_title, axis=alt.Axis(tickMinStep=1)),
        tooltip=[alt.Tooltip("x:N", title=x_title), alt.Tooltip("value:Q", title=y_title)],
    )
    if len(names) > 1:
        base = base.encode(xOffset=alt.XOffset("series:N", sort=list(names)))
    coloured = alt.Color(
        "series:N", scale=series_scale(names)["color"], legend=alt.Legend() if len(names) > 1 else None
    )
    layers = [base.mark_bar().encode(color=coloured)]
    if is_labelled:
        layers.append(base.mark_text(dy=-6, fontSize=11).encode(text="value:Q"))
    return finished(alt.layer(*layers), 200)


def forest(rows: Sequence[Row]) -> Any:
    """Mean differences with their intervals about 0; established ones are filled, the others hollow."""
    labels = [str(row["label"]) for row in rows]
    ends = [abs(row[key]) for row in rows for key in ("value", "low", "high") if row.get(key) is not None]
    reach = min(1.0, max([0.05, *ends]) * 1.15) if max([0.0, *ends]) <= 1 else max(ends) * 1.15
    base = alt.Chart().encode(
        y=alt.Y(
            "label:N",
            title=None,
            sort=labels,
            axis=alt.Axis(ticks=False, domain=False, labelLimit=_LABEL + 40),
        )
    )
    x = alt.X(
        "value:Q",
        title="mean difference, to the right: higher than the baseline",
        scale=alt.Scale(domain=[-reach, reach]),
    )
    tooltip = [alt.Tooltip("label:N", title="comparison"), alt.Tooltip("value:Q", title="mean difference", format=".3f"),
               alt.Tooltip("low:Q", title="interval from", format=".3f"), alt.Tooltip("high:Q", title="to", format=".3f"),
               alt.Tooltip("status:N", title="status")]  # fmt: skip
    zero = alt.Chart(values([{"at": 0}])).mark_rule(color=colour("edge"), strokeWidth=1.5).encode(x="at:Q")
    mark = base.mark_point(size=120, strokeWidth=2, opacity=1, shape="diamond", color=colour("s1"))
    layers = [
        zero,
        base.mark_rule(strokeWidth=2, color=colour("s1"))
        .encode(x=x, x2="high:Q")
        .transform_calculate(value="datum.low"),
        mark.encode(
            x="value:Q",
            tooltip=tooltip,
            fill=alt.condition("datum.is_established", alt.value(colour("s1")), alt.value(colour("card"))),
        ),
        base.mark_text(dy=-15, fontSize=11).encode(x="value:Q", text="verdict:N"),
    ]
    return finished(alt.layer(*layers, data=values(rows)), alt.Step(50))


def differences(rows: Sequence[Row], title: str) -> Any:
    """Differences query by query, wins to the right and losses to the left, each with its size."""
    order = [str(row["label"]) for row in rows]
    base = alt.Chart(values(rows)).encode(
        y=alt.Y(
            "label:N",
            title=None,
            sort=order,
            axis=alt.Axis(ticks=False, domain=False, labelLimit=_LABEL + 40),
        ),
        x=alt.X("value:Q", title=title),
        tooltip=[
            alt.Tooltip("label:N", title="query"),
            alt.Tooltip("value:Q", title="difference", format="+.3f"),
        ],
    )
    bar = base.mark_bar(height=11).encode(
        color=alt.condition("datum.value > 0", alt.value(colour("s1")), alt.value(colour("s2")))
    )
    right = (
        base.mark_text(align="left", dx=4, fontSize=11)
        .encode(text=alt.Text("value:Q", format="+.2f"))
        .transform_filter("datum.value > 0")
    )
    left = (
        base.mark_text(align="right", dx=-4, fontSize=11)
        .encode(text=alt.Text("value:Q", format="+.2f"))
        .transform_filter("datum.value < 0")
    )
    return finished(alt.layer(bar, right, left), alt.Step(18))


def to_vega(chart: Any) -> dict[str, Any]:
    """The chart as Vega, which the page draws without compiling anything."""
    spec = chart.to_dict()
    found: dict[str, Any] = vl_convert.vegalite_to_vega(spec, vl_version=VEGA_LITE)
    return found


def to_png(titled: Sequence[tuple[str, Any]], width: int, scale: float = 1.5) -> bytes:
    """Charts below each other as one picture in light colours, each `width` pixels wide before scaling."""
    config: dict[str, Any] = {}
    parts = []
    for title, chart in titled:
        spec = chart.properties(width=width).to_dict()
        config = spec.pop("config")
        spec.pop("$schema")
        parts.append(
            spec | {"title": {"text": title, "anchor": "start", "fontSize": 14, "color": colour("ink")}}
        )
    config.pop("autosize", None)
    whole = {
        "$schema": alt.SCHEMA_URL,
        "vconcat": parts,
        "spacing": 24,
        "padding": 16,
        "config": config | {"background": colour("card")},
    }
    datasets = {name: rows for part in parts for name, rows in part.pop("datasets", {}).items()}
    spec = json.loads(
        _VARIABLE.sub(lambda found: theme.LIGHT[found.group(1)], json.dumps(whole | {"datasets": datasets}))
    )
    picture: bytes = vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=scale)
    return picture


def library() -> str:
    """Vega and what draws it, as one script that leaves nothing but `vegaEmbed` behind."""
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    return f"(()=>{{{bundle}\n}})();"
