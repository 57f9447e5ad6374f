"""The look of a drawn prediction: a plot with a line through points to drag, and a slider for each of them."""

import html
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets as w
import plotly.graph_objects as go
import traitlets

from bugzoo.course.drawings import Axis
from bugzoo.lab import page
from bugzoo.lab.chart import CLEAR, FRONT, Sheet
from bugzoo.lab.quiz_widgets import answering, inline, status
from bugzoo.plots import GUESS

if TYPE_CHECKING:
    from bugzoo.lab.drawing import Drawing

HEIGHT = 230
"""Pixels of the plot. With question, three sliders and button it stays below 440, with five below 500."""
DRAGGED = "bugzoo-dragged"
"""Class of a box whose points can be dragged."""
STEPS = 100
"""Steps of a slider from one end to the other."""


class Canvas(Sheet):
    """A plot whose points are dragged: front/drag.js moves the sliders on the page, and those move the line."""

    _drag = traitlets.Unicode((FRONT / "drag.js").read_text(encoding="utf-8")).tag(sync=True)
    _sliders = traitlets.List(traitlets.Instance(w.Widget)).tag(sync=True, **w.widget_serialization)

    def __init__(self, sliders: Sequence[Any], *figure: Any, **config: Any) -> None:
        self._sliders = list(sliders)
        super().__init__(*figure, **config)


class Face:
    """The widgets, shown on creation."""

    def __init__(self, drawing: "Drawing") -> None:
        self.drawing, question = drawing, drawing.asked
        start = drawing.said or (_middle(question.y),) * len(question.points)
        name, unit = drawing.name_and_unit()
        labels = [f"{point:,g}{unit}" for point in question.points]
        width = f"{max(map(len, labels)) + 1}ch"
        self.sliders = [_slider(question.y, *pair, width) for pair in zip(start, labels, strict=True)]
        line = go.Scatter(
            x=list(question.points), y=list(start), name="your guess", mode="lines+markers", showlegend=False,
            line={"color": GUESS, "width": 2, "dash": "dot"}, marker={"size": 10}, hovertemplate="%{y:.3g}<extra></extra>",
        )  # fmt: skip
        layout = go.Layout(
            height=HEIGHT, autosize=True, margin={"l": 84, "r": 16, "t": 8, "b": 44}, template="none",
            paper_bgcolor=CLEAR, plot_bgcolor=CLEAR, font={"size": 13}, xaxis=_axis(question.x), yaxis=_axis(question.y),
            dragmode=False,  # plotly's own keeps a finger from scrolling the page, also once the drawing is locked
        )  # fmt: skip
        self.figure: Any = Canvas(self.sliders, [line], layout, displayModeBar=False)
        self.figure.on_msg(self._asked)
        self.button = w.Button(description="This is my guess", icon="check", layout={"width": "180px"})
        self.carried = page.Carried(self.button, **{f"at{place}": slider for place, slider in enumerate(self.sliders)})
        self.told = w.HTML()
        for slider in self.sliders:
            slider.observe(self._moved, "value")
        self.button.on_click(self._pressed)
        heading = w.HTML(status(html.escape(f"Drag the points, or move the sliders: {question.y.label} at {name}")))
        rows = [w.HTML(status(f"<b>{inline(question.text)}</b>")), self.figure, heading, *self.sliders]
        self.box = page.form([*rows, w.HBox([self.button, self.told]), self.carried.box])
        for name in ("bugzoo-check", "bugzoo-live", DRAGGED):  # the second colors the plot
            self.box.add_class(name)
        self.handle = page.put(self.box)
        if drawing.said:
            self.told.value = status("This is what you drew before.")
        if drawing.revealed:
            self.lock()
        self._stays()

    def values(self) -> tuple[float, ...]:
        """Return the y-values of the sliders, to three digits, as they are shown beside them."""
        return tuple(_rounded(height, self.drawing.asked.y) for height in (slider.value for slider in self.sliders))

    def lock(self) -> None:
        """Allow no further change: the result was seen. What was moved and not saved goes back."""
        for slider, height in zip(self.sliders, self.drawing.said, strict=False):  # nothing was saved: they stay
            slider.value = height
        for control in (*self.sliders, self.button):
            control.disabled = True
        self.box.remove_class(DRAGGED)

    def _moved(self, _: Any) -> None:
        with self.figure.batch_update():
            self.figure.data[0].y = self.values()

    def _pressed(self, _: Any) -> None:
        heights = [_rounded(float(height), self.drawing.asked.y) for height in self.carried.values().values()]
        for slider, value in zip(self.sliders, heights, strict=True):
            slider.value = value  # a number typed beside a slider counts at once, and the slider and the line go there
        answering(lambda values: html.escape(self.drawing.say(*values)), heights, self.told)
        self._stays()

    def _stays(self) -> None:
        heights = ", ".join(f"{height:.3g}" for height in self.drawing.said)
        text = f"You drew {heights} at {self.drawing.places()}." if heights else "You drew nothing yet."
        page.keep(self.handle, f"{self.drawing.asked.text}\n{text}\nRun this cell to draw.")

    def _asked(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and content.get("ready"):
            self.figure.again(axes=False)


def _middle(axis: Axis) -> float:
    return math.sqrt(axis.low * axis.high) if axis.log else (axis.low + axis.high) / 2


def _rounded(value: float, axis: Axis) -> float:
    return min(max(float(f"{value:.3g}"), axis.low), axis.high)


def _axis(axis: Axis) -> dict[str, Any]:
    """Return an axis with fixed ends, and room for the markers on them."""
    low, high = (math.log10(axis.low), math.log10(axis.high)) if axis.log else (axis.low, axis.high)
    room = 0.04 * (high - low)
    style: dict[str, Any] = {"title": {"text": axis.label}, "range": [low - room, high + room], "fixedrange": True}
    return style | {"type": "log" if axis.log else "linear", "zeroline": False, "tickformat": "~g", "nticks": 6}


def _slider(axis: Axis, value: float, label: str, width: str) -> Any:
    """Return a slider along an axis, logarithmic where it is."""
    look: dict[str, Any] = {"description": label, "readout_format": ".3g", "continuous_update": True}
    look |= {"style": {"description_width": width}, "layout": {"width": "min(100%, 560px)"}}
    if axis.log:
        low, high = math.log10(axis.low), math.log10(axis.high)
        return w.FloatLogSlider(value=value, base=10, min=low, max=high, step=(high - low) / STEPS, **look)
    return w.FloatSlider(value=value, min=axis.low, max=axis.high, step=(axis.high - axis.low) / STEPS, **look)
