"""The picture of the view `batch`: samples by kind, and the labels of the batches in their order."""

import math
import textwrap
from typing import Any

import numpy as np

from bugzoo.plots._style import BLUE, ORANGE, RED
from bugzoo.views import _draw

LETTERS, LINE = 82, 0.135
"""Letters that fit into a line of text, and its height in inches."""


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw one axes or more for the samples, and one for the labels where they are known."""
    kind = numbers.get("kind")
    ordered = bool(numbers.get("order_labels"))
    left, right = (
        figure.add_gridspec(1, 2, width_ratios=(4.2, 1), wspace=0.05) if ordered else (figure.add_gridspec()[0], None)
    )
    if kind == "images":
        _images(numbers, figure, left)
    elif kind == "tokens":
        _tokens(numbers, figure, left)
    elif kind == "table":
        _table(numbers, figure, left)
    else:
        _draw.absent(figure.add_subplot(left), "no samples to draw")
    if right is not None:
        _order(numbers, figure.add_subplot(right))


def _scale(numbers: dict[str, Any], fixed: bool) -> tuple[float, float]:
    """From the smallest to the largest value of the batch; if `fixed`, from 0 to 1 if the batch fits there."""
    low, high = numbers.get("low", 0.0), numbers.get("high", 1.0)
    return (0.0, 1.0) if fixed and low >= 0 and high <= 1 else (low, high if high > low else low + 1)


def _images(numbers: dict[str, Any], figure: Any, place: Any) -> None:
    samples = numbers["samples"]
    across = -(-len(samples) // 2) if len(samples) > 1 else 1
    axes = place.subgridspec(-(-len(samples) // across), across).subplots(squeeze=False).flatten()
    low, high = _scale(numbers, fixed=True)
    shown = None
    for ax, sample, label in zip(axes, samples, _each(numbers, len(samples)), strict=False):
        _draw.prepare(ax, "")
        ax.set_title(f"label {label}" if label else "", fontsize=8, color=_draw.GREY, pad=2)
        shown = ax.imshow(np.asarray(sample, dtype=float), cmap=_colours("gray"), vmin=low, vmax=high)
        ax.set(xticks=[], yticks=[])
        for spine in ax.spines.values():
            spine.set_visible(True)
    for ax in axes[len(samples) :]:
        ax.set_axis_off()
    _bar(numbers, figure, shown, list(axes))


def _table(numbers: dict[str, Any], figure: Any, place: Any) -> None:
    ax = figure.add_subplot(place)
    _draw.prepare(ax, "", "input column", "sample")
    samples = np.asarray(numbers["samples"], dtype=float)
    low, high = _scale(numbers, fixed=False)
    shown = ax.imshow(samples, cmap=_colours("viridis"), aspect="auto", vmin=low, vmax=high)
    ax.set_xticks(range(0, samples.shape[1], 1 + samples.shape[1] // 12))
    ax.set_yticks(range(len(samples)))
    if any(labels := _each(numbers, len(samples))):
        side = ax.secondary_yaxis("right")
        side.set_yticks(range(len(samples)), labels, fontsize=8)
        side.set_ylabel("target", color=_draw.GREY)
        side.tick_params(colors=_draw.GREY)
        side.spines["right"].set_visible(False)
    _bar(numbers, figure, shown, [ax])


def _colours(name: str) -> Any:
    import matplotlib

    return matplotlib.colormaps[name].with_extremes(bad=ORANGE)


def _bar(numbers: dict[str, Any], figure: Any, shown: Any, axes: list[Any]) -> None:
    bar = figure.colorbar(shown, ax=axes, location="bottom", fraction=0.06, aspect=40, pad=0.04)
    missing = " (orange: not finite)" if numbers.get("not_finite") else ""
    bar.set_label(f"input value{missing}", color=_draw.GREY, fontsize=8)
    bar.ax.tick_params(colors=_draw.GREY, labelsize=7)
    bar.outline.set_edgecolor(_draw.GREY)


def _tokens(numbers: dict[str, Any], figure: Any, place: Any) -> None:
    ax = figure.add_subplot(place)
    ax.set_axis_off()
    lines: list[tuple[str, str]] = []
    targets = numbers.get("targets") or []
    for sample, label, target in zip(numbers["samples"], _each(numbers, 99), [*targets, *[""] * 99], strict=False):
        head = "input   " if target else f"label {label}  " if label else ""
        lines += [(part, _draw.GREY) for part in _wrapped(head, sample)]
        lines += [(part, RED) for part in _wrapped("target  ", target)] if target else []
    width = figure.get_size_inches()[0]
    figure.set_size_inches(width, max(2.4, 0.3 + LINE * len(lines)))
    for row, (text, colour) in enumerate(lines):
        ax.text(
            0, 1 - (row + 0.5) / len(lines), text, color=colour, fontsize=7, family="monospace", va="center",
            transform=ax.transAxes, parse_math=False,
        )  # fmt: skip


def _wrapped(head: str, text: str) -> list[str]:
    """Return the text in lines, the first one after `head`."""
    return textwrap.wrap(text, LETTERS, initial_indent=head, subsequent_indent=" " * len(head)) or [head]


def _each(numbers: dict[str, Any], count: int) -> list[str]:
    """Return a label for each sample, "" for a sample without one."""
    labels = list(numbers.get("labels") or [])
    return [*labels, *[""] * max(0, count - len(labels))]


def _order(numbers: dict[str, Any], ax: Any) -> None:
    """Draw a column of points for each batch, its samples from left to right."""
    from matplotlib.ticker import MaxNLocator

    whole = all(one == int(one) for labels in numbers["order_labels"] for one in labels if math.isfinite(one))
    _draw.prepare(
        ax, "", "step", "token id of the target" if numbers.get("targets") else "label" if whole else "target"
    )
    ax.yaxis.set_major_locator(MaxNLocator(8, integer=whole))
    for place, labels in enumerate(numbers["order_labels"]):
        across = place + np.linspace(-0.35, 0.35, len(labels)) if len(labels) > 1 else [place]
        ax.plot(across, labels, ".", markersize=2.5, color=RED if place % 2 else BLUE)
    steps = [f"{step:.0f}" for step in numbers["order_steps"]]
    ax.set_xticks(range(len(steps)), steps, rotation=60, fontsize=7)
    ax.tick_params(axis="y", labelsize=7)
