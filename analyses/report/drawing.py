"""The look of the charts, and how they leave: as Vega for the page, as a PNG for the picture.

Colours are CSS variables, so that both modes and print need no second drawing.
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
#: The longest label beside an axis, in pixels.
LABEL = 150
_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'
_VARIABLE = re.compile(r"var\(--([a-z0-9-]+)\)")

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
        "shape": alt.Scale(domain=list(names), range=[shapes.get(n, theme.FLOOR_SHAPE) for n in names]),
    }


def finished(chart: Any, height: Any = None) -> Any:
    """A chart in the report's look: as wide as its place, transparent, quiet axes."""
    sized = chart.properties(width="container", **({} if height is None else {"height": height}))
    axis = {
        "labelColor": colour("soft"), "titleColor": colour("soft"), "gridColor": colour("line"),
        "domainColor": colour("edge"), "tickColor": colour("edge"), "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": "normal", "labelLimit": LABEL,
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
