"""The moving picture: loss above, gradient norm below, the healthy twin behind. Numbers in, plotly figure out."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from bugzoo.lab.engine import Point
from bugzoo.plots.comparison import BROKEN, HEALTHY

PAPER, INK, GRID = "#ffffff", "#24292f", "#e3e6ea"
"""Explicit colours: the same readable sheet in a light and in a dark notebook, and in the static picture."""

MOST = 1500
"""Points drawn per curve; a longer run is thinned for the eye, never for the numbers."""


class Chart:
    """A FigureWidget with four curves. Only one thread at a time may call its methods."""

    def __init__(self, height: int = 380) -> None:
        curves = []
        for axis, _ in (("y", "loss"), ("y2", "gradient norm")):
            for name, colour, width in (("healthy", HEALTHY, 5), ("this run", BROKEN, 1.8)):
                curves.append(
                    go.Scatter(
                        x=[], y=[], name=name, xaxis="x", yaxis=axis, mode="lines",
                        line={"color": colour, "width": width}, legendgroup=name, showlegend=axis == "y",
                        hovertemplate="step %{x}: %{y:.4g}<extra>" + name + "</extra>",
                    )
                )  # fmt: skip
        axis_style = {"gridcolor": GRID, "linecolor": INK, "zeroline": False, "type": "log", "tickformat": "~g"}
        axis_style["nticks"] = 3  # more of them, on axes as low as these, print 0.6 to 0.9 over each other
        layout = go.Layout(
            height=height, autosize=True, margin={"l": 64, "r": 16, "t": 28, "b": 44},
            paper_bgcolor=PAPER, plot_bgcolor=PAPER, font={"color": INK, "size": 13}, uirevision="keep", hovermode="x",
            legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
            xaxis={"title": {"text": "optimiser step"}, "anchor": "y2", "gridcolor": GRID, "zeroline": False},
            yaxis=axis_style | {"title": {"text": "loss (nats)"}, "domain": [0.46, 1]},
            yaxis2=axis_style | {"title": {"text": "gradient norm"}, "domain": [0, 0.38]},
        )  # fmt: skip
        self.figure: Any = go.FigureWidget(curves, layout)
        self.figure._config = self.figure._config | {"responsive": True, "displaylogo": False}  # as wide as the cell
        # an empty sheet with sensible numbers on its axes, until there are points
        self.figure.layout.xaxis.range = [0, 200]
        self.figure.layout.yaxis.range = self.figure.layout.yaxis2.range = [-1, 0.6]
        self.marked: int | None = None

    def clear(self) -> None:
        """An empty sheet for a new run."""
        self.marked = None
        with self.figure.batch_update():
            for curve in self.figure.data:
                curve.x, curve.y = [], []
            self.figure.layout.shapes = ()
            self.figure.layout.annotations = ()
            for axis in (self.figure.layout.xaxis, self.figure.layout.yaxis, self.figure.layout.yaxis2):
                axis.autorange = True

    def draw(self, which: str, points: Sequence[Point]) -> None:
        """`which`: "healthy" or "broken"; `points` from the start of that run."""
        steps, losses, norms = thinned(points)
        first = 0 if which == "healthy" else 1
        with self.figure.batch_update():
            self.figure.data[first].x, self.figure.data[first].y = steps, losses
            self.figure.data[first + 2].x, self.figure.data[first + 2].y = steps, norms

    def points(self, which: str) -> int:
        """How many points of a run are drawn."""
        return len(self.figure.data[0 if which == "healthy" else 1].x)

    def mark(self, found: tuple[int, str] | None) -> None:
        """A dotted line and a note at the first non-finite step."""
        if found is None or found[0] == self.marked:
            return
        self.marked = found[0]
        step, text = found
        line = {"type": "line", "x0": step, "x1": step, "y0": 0, "y1": 1, "xref": "x", "yref": "paper"}
        with self.figure.batch_update():
            self.figure.layout.shapes = [line | {"line": {"color": INK, "width": 1.5, "dash": "dot"}}]
            self.figure.layout.annotations = [
                {
                    "x": step, "y": 0.97, "xref": "x", "yref": "paper", "xanchor": "left", "xshift": 6,
                    "text": f"step {step}: {text}", "showarrow": False,
                    "font": {"color": INK, "size": 13}, "bgcolor": "rgba(255,255,255,0.85)",
                }
            ]  # fmt: skip


def thinned(points: Sequence[Point]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(steps, losses, gradient norms) with at most MOST rows; gaps where a number is not finite or not positive."""
    stride = max(1, math.ceil(len(points) / MOST))
    table = np.array([*points[:-1:stride], *points[-1:]], dtype=float).reshape(-1, 3)
    values = np.where(np.isfinite(table[:, 1:]) & (table[:, 1:] > 0), table[:, 1:], np.nan)
    return table[:, 0], values[:, 0], values[:, 1]


def first_bad(points: Sequence[Point]) -> tuple[int, str] | None:
    """The first step whose loss or gradient is not finite, and which of them it was."""
    for step, loss, norm in points:
        if not math.isfinite(loss):
            return step, f"the loss is {loss:g}"
        if not math.isfinite(norm):
            return step, f"the gradient is {norm:g}, the loss still {loss:.2f}"
    return None
