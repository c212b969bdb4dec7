"""The report: one self-contained page, made from the published file alone.

A section is a function from a read-only connection on the published file, and the `Options`, to `Section`s: text, charts
and the tables behind them. `sections.SECTIONS` lists them in the page's order; `page.build` puts them together.
"""
