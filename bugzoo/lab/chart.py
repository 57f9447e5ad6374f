"""The moving picture: loss above, gradient norm below, the healthy twin behind. Numbers in, plotly figure out.

Each message holds whole curves, never changes to them, and all of it is sent again to a page that has just loaded
plotly: what comes before that is lost.
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
"""Points drawn per curve; a longer run is thinned for the eye, never for the numbers."""

FRONT = Path(__file__).parent / "front"
"""What runs in the browser."""

RUNS = {"healthy": ("healthy", HEALTHY, 5), "broken": ("this run", BROKEN, 1.8)}
CLEAR = "rgba(0,0,0,0)"
"""The page's own colour shows; text, grid and axes take the notebook's in front/page.css."""


CODE = Path(plotly.__file__).parent / "package_data" / "widgetbundle.js"
"""Plotly's part in the browser."""


class Code(w.Widget):
    """That code. All figures of a kernel share one: it is five megabytes, and a page asks for the state of all widgets."""

    text = traitlets.Unicode().tag(sync=True)
    _made: "ClassVar[Code | None]" = None

    @classmethod
    def shared(cls) -> "Code":
        """The one of this kernel."""
        if cls._made is None or cls._made.comm is None:  # closed, as Widget.close_all() does
            cls._made = cls(text=CODE.read_text(encoding="utf-8"))
        return cls._made


class Sheet(go.FigureWidget):
    """A figure whose code is loaded by front/plot.js, and that does not listen: what the page says of it is not wanted.

    Plotly's page answers each message with all that it has drawn. Taken in, that removes curves from the figure, and
    a message that another thread sends meanwhile is lost.
    """

    _esm = FRONT / "plot.js"
    _code = traitlets.Instance(Code).tag(sync=True, **w.widget_serialization)

    @traitlets.default("_code")
    def _shared(self) -> Code:
        return Code.shared()

    def set_state(self, sync_data: dict) -> None:
        """Take nothing in."""

    def again(self, axes: bool) -> None:
        """Send what is there to whoever has a view; `axes`: and let them fit, also where somebody looks closer."""
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
        axis_style["nticks"] = 3  # more of them, on axes as low as these, print 0.6 to 0.9 over each other
        # an empty sheet with sensible numbers on its axes; they fit the points from the first one on, and no message,
        # which a page that is still drawing might miss, has to ask for that
        axis_style |= {"range": [-1, 0.6], "autorange": True}
        layout = go.Layout(
            height=height, autosize=True, margin={"l": 84, "r": 16, "t": 28, "b": 44}, template="none",
            paper_bgcolor=CLEAR, plot_bgcolor=CLEAR, font={"size": 13}, hovermode="x unified",
            legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"},
            xaxis={"title": {"text": "optimiser step"}, "anchor": "y2", "zeroline": False, "range": [0, 200],
                "autorange": True},
            yaxis=axis_style | {"title": {"text": "loss"}, "domain": [0.46, 1]},
            yaxis2=axis_style | {"title": {"text": "gradient norm"}, "domain": [0, 0.38]},
        )  # fmt: skip
        self.figure: Any = Sheet(curves, layout)
        self.figure._config = self.figure._config | {"responsive": True, "displaylogo": False}  # as wide as the cell
        self.figure.on_msg(self._asked)
        self.mark: dict[str, Any] = {}
        """{"step", "text"} of the first non-finite step, where it is pointed at."""
        self._one = threading.RLock()  # the view's thread draws, the kernel's answers the page

    def clear(self) -> None:
        """An empty sheet for a new run."""
        with self._one:
            self.mark = {}
            with self.figure.batch_update():
                for curve in self.figure.data:
                    curve.x, curve.y = [], []
                self.figure.layout.shapes, self.figure.layout.annotations = (), ()
            self.figure.again(axes=True)

    def draw(self, which: str, points: Sequence[Point]) -> None:
        """`which`: "healthy" or "broken"; `points` from the start of that run."""
        steps, losses, norms = thinned(points)
        with self._one, self.figure.batch_update():
            for curve, values in zip(self._curves(which), (losses, norms), strict=True):
                curve.x, curve.y = steps.astype(np.int32), values.astype(np.float32)

    def point_at(self, found: tuple[int, str] | None) -> None:
        """A dotted line and a note at the first non-finite step."""
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
        """How many points of a run are drawn."""
        return len(self._curves(which)[0].x)

    def all_again(self, axes: bool = False) -> None:
        """Send all of it, for whoever missed some; `axes`: to a view that is new."""
        with self._one:
            self.figure.again(axes)

    def _curves(self, which: str) -> Any:
        return self.figure.data[list(RUNS).index(which) :: len(RUNS)]

    def _asked(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and content.get("ready"):
            self.all_again(axes=True)


def thinned(points: Sequence[Point]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(steps, losses, gradient norms) with at most MOST rows and the last one; nan where no logarithm is."""
    stride = max(1, math.ceil(len(points) / MOST))
    table = np.array([*points[:-1:stride], *points[-1:]], dtype=float).reshape(-1, 3)
    values = np.where(np.isfinite(table[:, 1:]) & (table[:, 1:] > 0), table[:, 1:], np.nan)
    return table[:, 0], values[:, 0], values[:, 1]
