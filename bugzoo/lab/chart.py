"""The live plot: loss above, gradient norm below, the healthy twin behind. Numbers in, plotly figure out.

Each message holds whole curves, never changes to them. All of it is sent again to a page that has just loaded plotly,
as earlier messages are lost.
"""

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import ipywidgets as w
import numpy as np
import plotly
import plotly.graph_objects as go
import traitlets

from bugzoo.lab.engine import Point
from bugzoo.plots.comparison import BROKEN, HEALTHY

MOST = 1500
"""Most points drawn per curve; a longer run is thinned in the plot only, not in the numbers."""

FRONT = Path(__file__).parent / "front"
"""Code that runs in the browser."""

RUNS = {"healthy": ("healthy", HEALTHY, 5), "broken": ("this run", BROKEN, 1.8)}
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

    @traitlets.default("_code")
    def _shared(self) -> Code:
        return Code.shared()

    def set_state(self, sync_data: dict) -> None:
        """Ignore state from the page."""

    def again(self, axes: bool) -> None:
        """Send the figure to every view; `axes`: also reset the axes, even in a zoomed view."""
        layout = self.layout.to_plotly_json()
        change: dict[str, Any] = {name: layout.get(name, []) for name in ("shapes", "annotations")}
        if axes:
            change |= {f"{name}.autorange": True for name in ("xaxis", "yaxis", "yaxis2")}
        curves = self.data
        self._send_update_msg({"x": [one.x for one in curves], "y": [one.y for one in curves]}, change)


class Chart:
    """A figure with four curves."""

    def __init__(self, height: int = 380) -> None:
        curves = [
            go.Scatter(
                x=[], y=[], name=name, xaxis="x", yaxis=axis, mode="lines", line={"color": colour, "width": width},
                legendgroup=name, showlegend=axis == "y", hovertemplate="%{y:.4g}<extra>" + name + "</extra>",
            )
            for axis in ("y", "y2")
            for name, colour, width in RUNS.values()
        ]  # fmt: skip
        axis_style = {"zeroline": False, "type": "log", "tickformat": "~g"}
        axis_style["nticks"] = 3  # on such a low axis, more labels would overlap from 0.6 to 0.9
        # an empty plot with sensible axis ranges. The axes fit the points from the first one on, without a message,
        # which a page that is still drawing might miss
        axis_style |= {"range": [-1, 0.6], "autorange": True}
        layout = go.Layout(
            height=height, autosize=True, margin={"l": 84, "r": 16, "t": 28, "b": 44}, template="none",
            paper_bgcolor=CLEAR, plot_bgcolor=CLEAR, font={"size": 13}, hovermode="x unified",
            legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
            xaxis={"title": {"text": "optimizer step"}, "anchor": "y2", "zeroline": False, "range": [0, 200],
                "autorange": True},
            yaxis=axis_style | {"title": {"text": "loss"}, "domain": [0.46, 1]},
            yaxis2=axis_style | {"title": {"text": "gradient norm"}, "domain": [0, 0.38]},
        )  # fmt: skip
        self.figure: Any = Sheet(curves, layout)
        self.figure._config = self.figure._config | {"responsive": True, "displaylogo": False}  # as wide as the cell
        self.figure.on_msg(self._asked)
        self.mark: dict[str, Any] = {}
        """{"step", "text"} of the first non-finite step, if it is marked."""
        self._one = threading.RLock()  # the view's thread draws, the kernel's thread answers the page

    def clear(self) -> None:
        """Clear the plot for a new run."""
        with self._one:
            self.mark = {}
            with self.figure.batch_update():
                for curve in self.figure.data:
                    curve.x, curve.y = [], []
                self.figure.layout.shapes, self.figure.layout.annotations = (), ()
            self.figure.again(axes=True)

    def draw(self, which: str, points: Sequence[Point]) -> None:
        """Draw a run. `which`: "healthy" or "broken"; `points`: from the start of that run."""
        steps, losses, norms = thinned(points)
        with self._one, self.figure.batch_update():
            for curve, values in zip(self._curves(which), (losses, norms), strict=True):
                curve.x, curve.y = steps.astype(np.int32), values.astype(np.float32)

    def point_at(self, found: tuple[int, str] | None) -> None:
        """Mark the first non-finite step with a dotted line and a note."""
        if found is None or found[0] == self.mark.get("step"):
            return
        step, text = found
        line = {"type": "line", "x0": step, "x1": step, "y0": 0, "y1": 1, "xref": "x", "yref": "paper"}
        note = {"x": step, "y": 0.97, "xref": "x", "yref": "paper", "xanchor": "left", "xshift": 6, "showarrow": False}
        with self._one, self.figure.batch_update():
            self.mark = {"step": step, "text": text}
            self.figure.layout.shapes = [line | {"line": {"width": 1.5, "dash": "dot"}}]
            self.figure.layout.annotations = [note | {"text": f"step {step}: {text}"}]

    def count(self, which: str) -> int:
        """Return how many points of a run are drawn."""
        return len(self._curves(which)[0].x)

    def all_again(self, axes: bool = False) -> None:
        """Send the whole figure to views that missed a part; `axes`: to a new view."""
        with self._one:
            self.figure.again(axes)

    def _curves(self, which: str) -> Any:
        return self.figure.data[list(RUNS).index(which) :: len(RUNS)]

    def _asked(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and content.get("ready"):
            self.all_again(axes=True)


def thinned(points: Sequence[Point]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (steps, losses, gradient norms), at most MOST rows and the last one; nan where log is undefined."""
    stride = max(1, math.ceil(len(points) / MOST))
    table = np.array([*points[:-1:stride], *points[-1:]], dtype=float).reshape(-1, 3)
    values = np.where(np.isfinite(table[:, 1:]) & (table[:, 1:] > 0), table[:, 1:], np.nan)
    return table[:, 0], values[:, 0], values[:, 1]
