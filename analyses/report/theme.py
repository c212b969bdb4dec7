"""The colours, once: the page's CSS variables, the charts, and the picture read them here.

Each colour stands on `page` or `card` with a contrast of 4.5 to 1 where it is text and 3 to 1 where it is a mark, in
both modes; a test computes it.
"""

from __future__ import annotations

LIGHT = {
    "page": "#f6f7f9", "card": "#ffffff", "ink": "#16202c", "soft": "#4c5a6b", "line": "#d5dbe3", "edge": "#76879b",
    "link": "#0a58ca", "band": "#c9d6e6",
    "good": "#0f6b43", "part": "#8a5300", "bad": "#b3261e", "none": "#4c5a6b",
    "good-bg": "#e2f4ea", "part-bg": "#fdf0d9", "bad-bg": "#fde8e6", "none-bg": "#eceff3",
    "s1": "#0b62c4", "s2": "#b4500f", "s3": "#0f7a58", "s4": "#7c3aed", "s5": "#b0246f", "s6": "#6b6500",
    "floor": "#6a7787",
}  # fmt: skip
DARK = {
    "page": "#10151c", "card": "#18202a", "ink": "#e8edf3", "soft": "#a9b6c4", "line": "#33404f", "edge": "#7d8fa3",
    "link": "#7fb8ff", "band": "#39506b",
    "good": "#6fd6a4", "part": "#f0bb6b", "bad": "#ff9b92", "none": "#a9b6c4",
    "good-bg": "#12372a", "part-bg": "#3b2c10", "bad-bg": "#43201e", "none-bg": "#26303c",
    "s1": "#6cb2ff", "s2": "#f2a067", "s3": "#5fd0a4", "s4": "#c3a6ff", "s5": "#ff92c6", "s6": "#d6cf5f",
    "floor": "#9aa7b6",
}  # fmt: skip

#: Which of them are read as text, and on what.
TEXT = ("ink", "soft", "link", "good", "part", "bad", "none")
TEXT_ON = {"good": "good-bg", "part": "part-bg", "bad": "bad-bg", "none": "none-bg"}
MARKS = ("s1", "s2", "s3", "s4", "s5", "s6", "floor", "edge")

#: A series is told apart by its shape as well as by its colour.
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-right", "triangle-down")
FLOOR_SHAPE = "cross"
SERIES = ("s1", "s2", "s3", "s4", "s5", "s6")


def css() -> str:
    """The variables of both modes; print is light."""

    def block(colours: dict[str, str]) -> str:
        return "".join(f"--{name}:{colour};" for name, colour in colours.items())

    return (
        f":root{{color-scheme:light dark;{block(LIGHT)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{block(DARK)}}}}}\n"
    )
