"""The live plot: loss above, gradient norm below, the healthy twin behind. Numbers in, plotly figure out.

Each run has a faint line, what was measured, and over it the mean of some steps: the same number for both runs, named
below the axis. Events and the names of curves stand above the frame, where they cover nothing. Each message holds whole
curves, never changes to them. All of it is sent again to a page that has just loaded plotly, as earlier messages are lost.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import ipywidgets as w
import numpy as np
import plotly
import plotly.graph_objects as go
import traitlets

from bugzoo.lab.engine import Point
from bugzoo.plots import HEALTHY, THIS_RUN, comparable, smoothed, smoothed_note, window
from bugzoo.plots.comparison import FAINT

MOST = 1500
"""Most points drawn per curve; a longer run is thinned in the plot only, not in the numbers."""

FRONT = Path(__file__).parent / "front"
"""Code that runs in the browser."""

RUNS = {"healthy": ("healthy", HEALTHY), "broken": ("this run", THIS_RUN)}
STEPS = "optimizer step"
TOP, ROW = 28, 18
"""Pixels above the frame: those of the legend, and those of each event's name."""
CLEAR = "rgba(0,0,0,0)"
"""The page's color shows through; text, grid and axes get the notebook's colors from front/page.css."""


CODE = Path(plotly.__file__).parent / "package_data" / "widgetbundle.js"
"""Plotly's part in the browser."""


class Code(w.Widget):
    """Plotly's browser code. A kernel's figures share one: it is 5 MB, and a page asks for every widget's state."""

    text = traitlets.Unicode().tag(sync=True)
    _made: "ClassVar[Code | None]" = None

    @classmethod
    def shared(cls) -> "Code":
        """Return the kernel's shared instance."""
        if cls._made is None or cls._made.comm is None:  # closed, for example by Widget.close_all()
            cls._made = cls(text=CODE.read_text(encoding="utf-8"))
        return cls._made


class Sheet(go.FigureWidget):
    """A figure whose code is loaded by front/plot.js, and that ignores messages from the page.

    Plotly's page answers each message with all that it has drawn. Accepting that would remove curves from the figure
    and lose a message that another thread sends meanwhile.
    """

    _esm = FRONT / "plot.js"
    _code = traitlets.Instance(Code).tag(sync=True, **w.widget_serialization)

    def __init__(self, curves: Sequence[Any], layout: go.Layout, **config: Any) -> None:
        super().__init__(list(curves), layout)
        self._config = self._config | {"responsive": True} | config  # as wide as the cell
        self.open()

    def open(self) -> None:
        """Open the comm once the figure is whole: a page on a busy machine may hear what comes with that, and no more."""
        if "responsive" in self._config:
            super().open()

    @traitlets.default("_code")
    def _shared(self) -> Code:
        return Code.shared()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Ignore state from the page."""

    def again(self, axes: bool) -> None:
        """Send the figure to every view; `axes`: also reset the axes, even in a zoomed view."""
        layout = self.layout.to_plotly_json()
        change: dict[str, Any] = {name: layout.get(name, []) for name in ("shapes", "annotations")}
        change |= {"margin.t": layout["margin"]["t"], "xaxis.title.text": layout["xaxis"]["title"]["text"]}
        if axes:
            change |= {f"{name}.autorange": True for name in ("xaxis", "yaxis", "yaxis2")}
        curves = self.data
        series = {name: [getattr(curve, name) for curve in curves] for name in ("x", "y", "name", "showlegend")}
        self._send_update_msg(series, change)


class Chart:
    """A figure with four curves, each a faint one and its mean, and the losses of each run's evaluations.

    `reference`: name -> loss to compare with, above 0.
    """

    def __init__(self, height: int = 330, reference: Mapping[str, float] | None = None) -> None:
        curves = [
            go.Scatter(
                x=[], y=[], name=name, xaxis="x", yaxis=axis, mode="lines", legendgroup=name,
                line={"color": color, "width": 1 if faint else 2}, opacity=FAINT if faint else 1,
                showlegend=axis == "y" and not faint, hoverinfo="skip" if faint else None,
                hovertemplate=None if faint else "%{y:.4g}<extra>" + name + "</extra>",
            )
            for axis in ("y", "y2")
            for name, color in RUNS.values()
            for faint in (True, False)
        ]  # fmt: skip
        curves += [
            go.Scatter(
                x=[], y=[], name=f"{name}, validation", xaxis="x", yaxis="y", mode="lines+markers",
                line={"color": color, "width": 1, "dash": "dash"}, marker={"symbol": "diamond", "size": 8},
                showlegend=False, hovertemplate="%{y:.4g}<extra>" + name + ", validation</extra>",
            )
            for name, color in RUNS.values()
        ]  # fmt: skip
        axis_style = {"zeroline": False, "type": "log", "tickformat": "~g"}
        axis_style["nticks"] = 3  # on such a low axis, more labels would overlap from 0.6 to 0.9
        # an empty plot with sensible axis ranges. The axes fit the points from the first one on, without a message,
        # which a page that is still drawing might miss
        axis_style |= {"range": [-1, 0.6], "autorange": True}
        layout = go.Layout(
            height=height, autosize=True, template="none",
            margin={"l": 84, "r": 16 + 8 * max(map(len, reference or ()), default=0), "t": TOP, "b": 44},
            paper_bgcolor=CLEAR, plot_bgcolor=CLEAR, font={"size": 13}, hovermode="x unified",
            legend={"orientation": "h", "x": 0, "xanchor": "left", "yref": "container", "y": 1, "yanchor": "top"},
            xaxis={"title": {"text": STEPS}, "anchor": "y2", "zeroline": False, "range": [0, 200],
                "autorange": True},
            yaxis=axis_style | {"title": {"text": "loss"}, "domain": [0.46, 1]},
            yaxis2=axis_style | {"title": {"text": "gradient norm"}, "domain": [0, 0.38]},
        )  # fmt: skip
        self.figure: Any = Sheet(curves, layout, displaylogo=False)
        self.figure.on_msg(self._asked)
        self.mark: dict[str, Any] = {}
        """{"step", "text"} of the first non-finite step, if it is marked."""
        self.on_seen: Callable[[], None] | None = None
        """Called each time a page has the plot in sight."""
        self.places: dict[str, str] = {}
        """"healthy" and "broken" -> what the legend adds to the run's name: its device, if that is not the CPU."""
        self._points: dict[str, Sequence[Point]] = {}
        self._marks: list[tuple[int, str]] = []
        self._reference = reference or {}
        self._width = 1
        self._one = threading.RLock()  # the view's thread draws, the kernel's thread answers the page
        self._draw_marks()

    def clear(self) -> None:
        """Clear the plot for a new run."""
        with self._one:
            self.mark, self._points, self._marks, self._width = {}, {}, [], 1
            with self.figure.batch_update():
                for curve in self.figure.data:
                    curve.x, curve.y = [], []
                self._draw_marks()
            self.figure.again(axes=True)

    def draw(self, which: str, points: Sequence[Point]) -> None:
        """Draw a run. `which`: "healthy" or "broken"; `points`: from the start of that run."""
        with self._one, self.figure.batch_update():
            self._points[which] = points
            width = window(max(map(len, self._points.values())))
            again, self._width = list(self._points) if width != self._width else [which], width
            for run in again:
                self._draw(run, self._points[run])
            self._draw_marks()

    def _draw(self, which: str, points: Sequence[Point]) -> None:
        table = np.array(points, dtype=np.float64).reshape(-1, 3)
        rows = thinned(len(table))
        name = RUNS[which][0] + self.places.get(which, "")
        self.figure.layout.xaxis.title.text = STEPS + smoothed_note(self._width)
        for column, (faint, mean) in enumerate(self._curves(which), start=1):
            values = np.where(table[:, column] > 0, table[:, column], np.nan)  # a logarithm needs more than 0
            mean.name = name
            for curve, series in ((faint, smoothed(values, 1)), (mean, smoothed(values, self._width))):
                curve.x, curve.y = table[rows, 0].astype(np.int32), series[rows].astype(np.float32)

    def validate(self, which: str, curves: Sequence[Sequence[tuple[int, float]]]) -> None:
        """Draw the losses of a run's evaluations: one curve for each place of the script, unless on another scale."""
        pieces = comparable(curves, [point[1] for point in self._points.get(which, ())])
        steps = [step for some in pieces for step in (*(pair[0] for pair in some), None)]
        losses = [loss for some in pieces for loss in (*(pair[1] for pair in some), None)]
        curve = self.figure.data[4 * len(RUNS) + list(RUNS).index(which)]
        if list(curve.x) != steps or list(curve.y) != losses:
            with self._one, self.figure.batch_update():
                curve.x, curve.y, curve.showlegend = steps, losses, bool(steps)

    def point_at(self, found: tuple[int, str] | None) -> None:
        """Mark the first non-finite step with a dotted line and a note."""
        if found is None or found[0] == self.mark.get("step"):
            return
        self.mark = {"step": found[0], "text": found[1]}
        self.add_mark(*found)

    def add_mark(self, step: int, text: str) -> None:
        """Draw a dotted line after a step, with a note."""
        with self._one, self.figure.batch_update():
            self._marks.append((step, text))
            self._draw_marks()

    def _draw_marks(self) -> None:
        """Draw each mark's line, its note above the frame, and reference values with their names at the right.

        Steps without a loss are shaded: there is nothing to draw there.
        """
        line = {"type": "line", "y0": 0, "y1": 1, "xref": "x", "yref": "paper", "line": {"width": 1.5, "dash": "dot"}}
        note = {"xref": "x", "yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False}
        shapes = [line | {"x0": step, "x1": step} for step, _ in self._marks]
        lost = [step for step, loss, _ in self._points.get("broken", ()) if not math.isfinite(loss)]
        if lost:
            band = {"type": "rect", "x0": lost[0] - 0.5, "x1": lost[-1] + 0.5, "y0": 0.44, "y1": 1, "layer": "below"}
            band |= {"xref": "x", "yref": "paper", "line": {"width": 0}, "fillcolor": THIS_RUN, "opacity": 0.18}
            shapes.append(band)
        half = max((len(points) for points in self._points.values()), default=0) / 2
        notes = []
        for row, (step, text) in enumerate(sorted(self._marks)):
            place = {"x": step, "xanchor": "left" if step < half else "right", "yshift": ROW * row}
            notes.append(note | place | {"text": f"step {step}: {text}"})
        level, name = {"xref": "paper", "yref": "y"}, {"x": 1, "xanchor": "left", "showarrow": False}
        for text, loss in self._reference.items():
            ends = {"x0": 0, "x1": 1, "y0": loss, "y1": loss}
            shapes.append(line | level | ends | {"line": {"width": 1, "dash": "dash"}})
            notes.append(level | name | {"y": math.log10(loss), "text": text})
        layout = self.figure.layout
        layout.shapes, layout.annotations, layout.margin.t = shapes, notes, TOP + ROW * len(self._marks)

    def count(self, which: str) -> int:
        """Return how many points of a run are drawn."""
        return len(self._curves(which)[0][0].x)

    def all_again(self, axes: bool = False) -> None:
        """Send the whole figure to views that missed a part; `axes`: to a new view."""
        with self._one:
            self.figure.again(axes)

    def _curves(self, which: str) -> list[tuple[Any, Any]]:
        """Return (what was measured, its mean) of a run's loss and gradient norm."""
        first = 2 * list(RUNS).index(which)
        return [(self.figure.data[at], self.figure.data[at + 1]) for at in (first, first + 2 * len(RUNS))]

    def _asked(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and content.get("ready"):
            self.all_again(axes=True)
        if isinstance(content, dict) and content.get("seen") and self.on_seen:
            self.on_seen()


def thinned(rows: int) -> np.ndarray:
    """Return which of `rows` steps are drawn: at most MOST, and the last one."""
    stride = max(1, math.ceil(rows / MOST))
    return np.array([*range(0, rows - 1, stride), *([rows - 1] if rows else [])], dtype=np.int64)
