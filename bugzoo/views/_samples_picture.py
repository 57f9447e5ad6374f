"""The picture of the view `batch`: samples by kind, and the labels of the batches in their order."""

import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from bugzoo.views import _draw

if TYPE_CHECKING:
    from bugzoo.views.batch import Numbers

LETTERS, LINE = 70, 0.155
"""Letters that fit into a line of text, and its height in inches."""


def draw(numbers: "Numbers", figure: Any) -> None:
    """Draw one axes or more for the samples, and one for the labels where they are known."""
    left, right = (
        figure.add_gridspec(1, 2, width_ratios=(4.2, 1), wspace=0.05)
        if numbers.order_labels
        else (figure.add_gridspec()[0], None)
    )
    draw_kind = {"images": _images, "tokens": _tokens, "table": _table}.get(numbers.kind or "")
    if draw_kind and numbers.samples:
        draw_kind(numbers, numbers.samples, figure, left)
    else:
        _draw.absent(figure.add_subplot(left), "no samples to draw")
    if numbers.order_labels:
        _order(numbers, numbers.order_labels, figure.add_subplot(right))


def _scale(numbers: "Numbers", fixed: bool) -> tuple[float, float]:
    """From the smallest to the largest value of the batch; if `fixed`, from 0 to 1 if the batch fits there."""
    low, high = numbers.low or 0.0, 1.0 if numbers.high is None else numbers.high
    return (0.0, 1.0) if fixed and low >= 0 and high <= 1 else (low, high if high > low else low + 1)


def _images(numbers: "Numbers", samples: list[Any], figure: Any, place: Any) -> None:
    across = -(-len(samples) // 2) if len(samples) > 1 else 1
    axes = place.subgridspec(-(-len(samples) // across), across).subplots(squeeze=False).flatten()
    low, high = _scale(numbers, fixed=True)
    image = None
    for ax, sample, label in zip(axes, samples, _each(numbers, len(samples)), strict=False):
        _draw.prepare(ax, "")
        ax.set_title(f"label {label}" if label else "", fontsize=_draw.TEXT, color=_draw.INK, pad=2)
        image = ax.imshow(np.asarray(sample, dtype=float), cmap=_colors("gray"), vmin=low, vmax=high)
        ax.set(xticks=[], yticks=[])
        for spine in ax.spines.values():
            spine.set_visible(True)
    for ax in axes[len(samples) :]:
        ax.set_axis_off()
    _bar(numbers, figure, image, list(axes))


def _table(numbers: "Numbers", samples: list[Any], figure: Any, place: Any) -> None:
    ax = figure.add_subplot(place)
    _draw.prepare(ax, "", "input column", "sample")
    table = np.asarray(samples, dtype=float)
    low, high = _scale(numbers, fixed=False)
    image = ax.imshow(table, cmap=_colors("viridis"), aspect="auto", vmin=low, vmax=high)
    ax.set_xticks(range(0, table.shape[1], 1 + table.shape[1] // 12))
    ax.set_yticks(range(len(samples)))
    if any(labels := _each(numbers, len(samples))):
        side = ax.secondary_yaxis("right")
        side.set_yticks(range(len(samples)), labels)
        side.set_ylabel("target", color=_draw.INK, fontsize=_draw.TEXT)
        side.tick_params(colors=_draw.INK, labelsize=_draw.TEXT)
        side.spines["right"].set_visible(False)
    _bar(numbers, figure, image, [ax])


def _colors(name: str) -> Any:
    import matplotlib

    return matplotlib.colormaps[name].with_extremes(bad=_draw.THIS_RUN)


def _bar(numbers: "Numbers", figure: Any, image: Any, axes: list[Any]) -> None:
    bar = figure.colorbar(image, ax=axes, location="bottom", fraction=0.06, aspect=40, pad=0.04)
    missing = " (orange: not finite)" if numbers.not_finite else ""
    bar.set_label(f"input value{missing}", color=_draw.INK, fontsize=_draw.TEXT)
    bar.ax.tick_params(which="both", colors=_draw.INK, labelsize=_draw.TEXT)
    bar.outline.set_edgecolor(_draw.INK)


def _tokens(numbers: "Numbers", samples: list[Any], figure: Any, place: Any) -> None:
    ax = figure.add_subplot(place)
    ax.set_axis_off()
    lines: list[tuple[str, str]] = []
    targets = numbers.targets or []
    for sample, label, target in zip(samples, _each(numbers, 99), [*targets, *[""] * 99], strict=False):
        head = "input   " if target else f"label {label}  " if label else ""
        lines += [(part, _draw.INK) for part in _wrapped(head, sample)]
        lines += [(part, _draw.SERIES[0]) for part in _wrapped("target  ", target)] if target else []
    width = figure.get_size_inches()[0]
    figure.set_size_inches(width, max(2.4, 0.3 + LINE * len(lines)))
    for row, (text, color) in enumerate(lines):
        ax.text(
            0, 1 - (row + 0.5) / len(lines), text, color=color, fontsize=_draw.TEXT, family="monospace", va="center",
            transform=ax.transAxes, parse_math=False,
        )  # fmt: skip


def _wrapped(head: str, text: str) -> list[str]:
    """Return the text in lines, the first one after `head`."""
    return textwrap.wrap(text, LETTERS, initial_indent=head, subsequent_indent=" " * len(head)) or [head]


def _each(numbers: "Numbers", count: int) -> list[str]:
    """Return a label for each sample, "" for a sample without one."""
    labels = numbers.labels or []
    return [*labels, *[""] * max(0, count - len(labels))]


def _order(numbers: "Numbers", batches: list[list[float]], ax: Any) -> None:
    """Draw a column of points for each batch, its samples from left to right."""
    from matplotlib.ticker import MaxNLocator

    whole = all(label == int(label) for labels in batches for label in labels if math.isfinite(label))
    _draw.prepare(ax, "", "step", "token id of the target" if numbers.targets else "label" if whole else "target")
    ax.yaxis.set_major_locator(MaxNLocator(8, integer=whole))
    for place, labels in enumerate(batches):
        across = place + np.linspace(-0.35, 0.35, len(labels)) if len(labels) > 1 else [place]
        ax.plot(across, labels, ".", markersize=2.5, color=_draw.COLORS[place % 2])
    steps = [f"{step:.0f}" for step in numbers.order_steps or ()]
    ax.set_xticks(range(len(steps)), steps, rotation=60)
