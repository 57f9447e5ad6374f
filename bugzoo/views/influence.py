"""Which outputs move when which inputs change?

One column a changed input, one row an output: the darker the square, the further the output moves; an empty square is
an output that stays. A model that predicts the next token moves no output before the changed position, and samples of
a batch move only their own output. Where a sequence has one output, the points show it for each changed word; in the
padding the sequence is cut off there instead.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._sequences import Call, shifted, two_ahead
from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.numbers import ANY, optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import call, quiet, tensors
from bugzoo.running.result import Run
from bugzoo.views import _attention_sums, _draw, _influences
from bugzoo.views._seen import Seen

LEAST = 1e-5
"""Smaller changes are rounding, and are drawn as none."""
LOSSES = {"loss": "as it was", "dealt_loss": "other\nsamples'\ntargets", "zero_loss": "zeros\nas inputs"}

ORDER = (
    "own", "others", "batch_independence", "dependency", "ahead", "dependency.padding_leak", "dependency.text_heard",
    "nan_share", "attention", "lowest_sum", "highest_sum", "dependency.attention_partial_rows", "attention_scale",
    "scale", "attention_scale.spread", "input_independence",
)  # fmt: skip


@dataclass(kw_only=True)
class Numbers(Seen):
    """The map with changes over the outputs' spread, a row an output; `strip`: the same for one output a sequence."""

    own: float | None = optional("change of an output with its own input, over the spread", (0.001, ANY))
    others: float | None = optional("largest change of an output when another sample changes", (0, 0.001))
    ahead: float | None = optional("positions from an input token to its target", (1, 1))
    nan_share: float | None = optional("share of outputs that are NaN for finite inputs", (0, 0))
    attention: float | None = optional("products with attention weights in a call")
    lowest_sum: float | None = optional("smallest sum of an attention row above 0", (0.99, 1.01))
    highest_sum: float | None = optional("largest sum of an attention row", (0.99, 1.01))
    scale: float | None = optional("that factor times sqrt(d)", (0, 2))
    sums: list[list[float]] | None = None
    map: list[list[float]] | None = None
    of: str | None = None
    not_mapped: str | None = None
    strip: list[float] | None = None
    padding_from: float | None = None
    length: float | None = None


def measure(run: Run) -> Numbers:
    """The map and the sums of attention rows. Raises NotApplicable if the model cannot be called with a tensor."""
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    place = arguments.main()
    if place is None:
        raise NotApplicable("the model was called with no tensor of tokens or numbers")
    with quiet(model_of(run, batch)) as model:
        with _attention_sums.AttentionSums() as attention:
            out = call(model, batch.args, batch.kwargs)
        tensors_in = [*model.parameters(), *tensors((batch.args, batch.kwargs))]
        numbers = Numbers(scale=_attention_sums.scale(run), ahead=_ahead(arguments, place, batch))
        if count := attention.products + attention.fused:
            numbers.attention, numbers.sums = float(count), _attention_sums.means(attention)
            numbers.lowest_sum, numbers.highest_sum = _attention_sums.extremes(attention)
        if all(bool(torch.isfinite(tensor).all()) for tensor in tensors_in if tensor.is_floating_point()):
            numbers.nan_share = float(torch.isnan(out).float().mean())
        if not torch.isfinite(out).all():
            numbers.not_mapped = "some outputs are not finite"
        elif not torch.equal(out, call(model, batch.args, batch.kwargs)):
            numbers.not_mapped = "the same batch gives other outputs\nin a second call"
        else:
            _map(numbers, model, arguments, place, out, batch)
    return numbers


def _map(numbers: Numbers, model: Any, arguments: Call, place: int, out: torch.Tensor, batch: Any) -> None:
    """Measure positions by positions, else samples by samples."""
    shift = shifted(arguments.leaves[place], batch.targets)
    if positions := _influences.by_position(model, arguments, place, out, shift[0] if shift else 1):
        numbers.padding_from, numbers.length = positions.padding_from, positions.length
        numbers.strip, numbers.map, numbers.of = positions.strip, positions.map, "position"
    if numbers.map is None:
        numbers.map = _influences.by_sample(model, arguments, place, out)
        numbers.of = None if numbers.map is None else "sample"
    if numbers.map is not None:
        table = np.asarray(numbers.map, dtype=np.float64)
        diagonal = np.diagonal(table)
        numbers.own = float(np.nanmedian(diagonal)) if np.isfinite(diagonal).any() else math.nan
        if numbers.of == "sample":
            numbers.others = float((table - np.diag(diagonal)).max())


def _ahead(arguments: Call, place: int, batch: Any) -> float | None:
    """By how many positions the targets are ahead of the tokens; None if they are not those tokens."""
    x = arguments.leaves[place]
    shift = shifted(x, batch.targets)
    if shift is not None:
        return 0.0 if shift[1] else 1.0
    return 2.0 if two_ahead(x, batch.targets) else None


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw the map, and beside it the points of one output and the sums of attention rows, else losses."""
    beside: list[Callable[[Any, Numbers], None]] = [_strip] if numbers.strip else []
    beside += [_sums] if _attention_sums.drawable(numbers.sums or []) else []
    if not beside and _changed_losses(numbers):
        beside = [_losses]
    figure.set_size_inches(7.0, 3.0)
    grid = figure.add_gridspec(max(1, len(beside)), 2 if beside else 1, width_ratios=(1.4, 1.0) if beside else None)
    _square(figure, figure.add_subplot(grid[:, 0]), numbers)
    for row, part in enumerate(beside):
        ax = figure.add_subplot(grid[row, 1])
        part(ax, numbers)


def _square(figure: Any, ax: Any, numbers: Numbers) -> None:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgb

    table = np.asarray(numbers.map or [], dtype=np.float64)
    if table.ndim != 2 or not table.size:
        _draw.absent(ax, numbers.not_mapped or "outputs and inputs share\nno samples or positions")
        return
    unit = numbers.of or "sample"
    _draw.prepare(ax, "", f"changed {unit}", f"output of {unit}")
    top = float(np.nanmax(table, initial=1.0))
    hue = LinearSegmentedColormap.from_list("hue", [(*to_rgb(_draw.SERIES[0]), alpha) for alpha in (0.12, 1.0)])
    image = ax.imshow(
        np.ma.masked_where(~(table > LEAST), table), cmap=hue, norm=LogNorm(LEAST, max(1.0, top)), aspect="equal",
        interpolation="nearest",
    )  # fmt: skip
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    for side in ax.spines.values():
        side.set_visible(True)
    padding = math.inf if numbers.padding_from is None else numbers.padding_from
    if unit == "position" and padding < len(table):
        for line in (ax.axvline, ax.axhline):
            line(padding - 0.5, color=_draw.INK, linestyle=":", linewidth=1)
        ax.text(len(table) - 0.6, -0.4, "padding", color=_draw.INK, fontsize=_draw.TEXT, ha="right", va="top")
    bar = figure.colorbar(image, ax=ax, shrink=0.9)
    bar.set_label("relative change of the output", color=_draw.INK, fontsize=_draw.TEXT)
    bar.ax.tick_params(which="both", colors=_draw.INK, labelsize=_draw.TEXT)
    bar.outline.set_edgecolor(_draw.INK)


def _sums(ax: Any, numbers: Numbers) -> None:
    _attention_sums.draw(ax, numbers.sums or [])


def _strip(ax: Any, numbers: Numbers) -> None:
    """Draw the change of one sample's output, by the position that was changed."""
    values, length = numbers.strip or [], numbers.length or 0.0
    padding = math.inf if numbers.padding_from is None else numbers.padding_from
    part = f" ({len(values)} of {length:.0f})" if len(values) < length else ""
    _draw.prepare(ax, "", f"changed position{part}", "change of\nthe output")
    ax.plot(range(len(values)), values, "o", color=_draw.COLORS[0], markersize=4)
    top = max([1e-3, *(value for value in values if math.isfinite(value))])
    ax.set_ylim(-0.05 * top, 1.25 * top)
    ax.xaxis.get_major_locator().set_params(integer=True)
    if padding < len(values):
        ax.axvline(padding - 0.5, color=_draw.INK, linestyle=":", linewidth=1)
        place = ax.get_xaxis_transform()
        ax.text(padding - 0.3, 1.0, "padding", color=_draw.INK, fontsize=_draw.TEXT, va="top", transform=place)


def _changed_losses(numbers: Numbers) -> dict[str, float]:
    """Return the losses of the last batch that are known, by what was changed."""
    losses = {name: numbers.instruments.get(f"input_independence.{key}", math.nan) for key, name in LOSSES.items()}
    return {name: loss for name, loss in losses.items() if math.isfinite(loss)}


def _losses(ax: Any, numbers: Numbers) -> None:
    """Draw the loss of the last batch as it was, and with its inputs or targets changed."""
    losses = _changed_losses(numbers)
    _draw.prepare(ax, "", "", "loss of the last batch")
    ax.plot(range(len(losses)), list(losses.values()), "o", color=_draw.COLORS[0], markersize=6)
    ax.set_xticks(range(len(losses)), list(losses))
    ax.set_xlim(-0.6, len(losses) - 0.4)
    ax.set_ylim(min([0.0, *losses.values()]), 1.15 * max([1e-3, *losses.values()]))
