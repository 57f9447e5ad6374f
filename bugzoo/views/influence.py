"""Which outputs move when which inputs change?

One column a changed input, one row an output: the darker the square, the further the output moves; an empty square is
an output that stays. A model that predicts the next token moves no output before the changed position, and samples of
a batch move only their own output. Where a sequence has one output, the points show it for each changed word; in the
padding the sequence is cut off there instead.
"""

import math
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics._sequences import Call, shifted, two_ahead
from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import call, quiet, tensors
from bugzoo.running.result import Run
from bugzoo.views import _attention_sums, _draw, _influences
from bugzoo.views.row import ANY, Row

LEAST = 1e-5
"""Smaller changes are rounding, and are drawn as none."""
LOSSES = {"loss": "as it was", "dealt_loss": "other samples'\ntargets", "zero_loss": "zeros\nas inputs"}

ROWS = (
    Row("own", "change of an output with its own input, over the spread", (1e-3, ANY)),
    Row("others", "largest change of an output when another sample changes", (0, 1e-3)),
    Row("batch_independence.batch_leak", "change of other samples over that of the changed ones", (0, 1e-3)),
    Row("batch_independence.alone", "samples that go through the model alone as well"),
    Row("dependency.future_leak", "change of earlier outputs when later tokens change", (0, 1e-3)),
    Row("dependency.future_leak_beyond_next", "change of outputs when tokens beyond the next one change", (0, 1e-3)),
    Row("dependency.future_reach", "farthest position ahead that moves an output; 9: beyond", (0, 0)),
    Row("ahead", "positions from an input token to its target", (1, 1)),
    Row("dependency.padding_leak", "change of outputs when their padding is removed", (0, 1e-3)),
    Row("dependency.text_heard", "change of outputs when the text before the padding changes", (1e-3, ANY)),
    Row("nan_share", "share of outputs that are NaN for finite inputs", (0, 0)),
    Row("attention", "products with attention weights in a call"),
    Row("lowest_sum", "smallest sum of an attention row above 0", (0.99, 1.01)),
    Row("highest_sum", "largest sum of an attention row", (0.99, 1.01)),
    Row("dependency.attention_partial_rows", "share of attention rows that do not sum to 1", (0, 0.05)),
    Row("attention_scale.width", "width d of a query"),
    Row("attention_scale.factor", "factor on the attention scores before the softmax", "1/sqrt(d)"),
    Row("scale", "that factor times sqrt(d)", (0, 2)),
    Row("attention_scale.spread", "spread of the scores before the softmax"),
    Row("input_independence.input_spread", "distance between two samples, over their size", (1e-3, ANY)),
    Row("input_independence.moved", "distance between the outputs of two samples", (1e-4, ANY)),
    Row("input_independence.loss", "loss on the last kept batch"),
    Row("input_independence.dealt_loss", "loss with samples paired with other targets", "above the loss on the batch"),
    Row("input_independence.zero_loss", "loss with zeros as inputs", "above the loss on the batch"),
)


def measure(run: Run) -> dict[str, Any]:
    """The map and the sums of attention rows. Raises NotApplicable if the model cannot be called with a tensor."""
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    place = arguments.main()
    if place is None:
        raise NotApplicable("the model was called with no tensor of tokens or numbers")
    with quiet(model_of(run, batch)) as model:
        with _attention_sums.AttentionSums() as attention:
            out = call(model, batch.args, batch.kwargs)
        held = [*model.parameters(), *tensors((batch.args, batch.kwargs))]
        numbers: dict[str, Any] = (
            _attention_sums.numbers_of(attention) | _attention_sums.scale(run) | _ahead(arguments, place, batch)
        )
        if all(bool(torch.isfinite(one).all()) for one in held if one.is_floating_point()):
            numbers["nan_share"] = float(torch.isnan(out).float().mean())
        if not torch.isfinite(out).all():
            numbers["not_mapped"] = "some outputs are not finite"
        elif not torch.equal(out, call(model, batch.args, batch.kwargs)):
            numbers["not_mapped"] = "the same batch gives other outputs\nin a second call"
        else:
            numbers |= _map(model, arguments, place, out, batch)
    return numbers


def _map(model: Any, arguments: Call, place: int, out: torch.Tensor, batch: Any) -> dict[str, Any]:
    """Positions by positions, else samples by samples."""
    shift = shifted(arguments.leaves[place], batch.targets)
    numbers = _influences.by_position(model, arguments, place, out, shift[0] if shift else 1)
    if "map" not in numbers:
        numbers |= _influences.by_sample(model, arguments, place, out)
    if "map" in numbers:
        table = np.asarray(numbers["map"], dtype=np.float64)
        own = np.diagonal(table)
        numbers["own"] = float(np.nanmedian(own)) if np.isfinite(own).any() else math.nan
        if numbers["of"] == "sample":
            numbers["others"] = float((table - np.diag(own)).max())
    return numbers


def _ahead(arguments: Call, place: int, batch: Any) -> dict[str, float]:
    """By how many positions the targets are ahead of the tokens; {} if they are not those tokens."""
    x = arguments.leaves[place]
    shift = shifted(x, batch.targets)
    if shift is not None:
        return {"ahead": 0.0 if shift[1] else 1.0}
    return {"ahead": 2.0} if two_ahead(x, batch.targets) else {}


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the map, and beside it the points of one output and the sums of attention rows, else losses."""
    beside = [_strip] if numbers.get("strip") else []
    beside += [_attention_sums.draw] if _attention_sums.seen(numbers) else []
    if not beside and _changed_losses(numbers):
        beside = [_losses]
    figure.set_size_inches(7.0, 3.0)
    grid = figure.add_gridspec(max(1, len(beside)), 2 if beside else 1, width_ratios=(1.4, 1.0) if beside else None)
    _square(figure, figure.add_subplot(grid[:, 0]), numbers)
    for row, part in enumerate(beside):
        ax = figure.add_subplot(grid[row, 1])
        part(ax, numbers)
        for label in (ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()):
            label.set_fontsize(8)


def _square(figure: Any, ax: Any, numbers: dict[str, Any]) -> None:
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, to_rgb

    table = np.asarray(numbers.get("map", []), dtype=np.float64)
    if table.ndim != 2 or not table.size:
        _draw.absent(ax, str(numbers.get("not_mapped", "outputs and inputs share\nno samples or positions")))
        return
    of = numbers.get("of", "sample")
    _draw.prepare(ax, "", f"changed {of}", f"output of {of}")
    top = float(np.nanmax(table, initial=1.0))
    hue = LinearSegmentedColormap.from_list("hue", [(*to_rgb(_draw.COLOURS[1]), alpha) for alpha in (0.12, 1.0)])
    image = ax.imshow(
        np.ma.masked_where(~(table > LEAST), table), cmap=hue, norm=LogNorm(LEAST, max(1.0, top)), aspect="equal",
        interpolation="nearest",
    )  # fmt: skip
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    for side in ax.spines.values():
        side.set_visible(True)
    padding = numbers.get("padding_from", math.inf)
    if of == "position" and padding < len(table):
        for line in (ax.axvline, ax.axhline):
            line(padding - 0.5, color=_draw.GREY, linestyle=":", linewidth=1)
        ax.text(len(table) - 0.6, -0.4, "padding", color=_draw.GREY, fontsize=7, ha="right", va="top")
    bar = figure.colorbar(image, ax=ax, shrink=0.9)
    bar.set_label("relative change of the output", color=_draw.GREY, fontsize=8)
    bar.ax.tick_params(colors=_draw.GREY, labelsize=7)
    bar.outline.set_edgecolor(_draw.GREY)


def _strip(ax: Any, numbers: dict[str, Any]) -> None:
    """Draw the change of one sample's output, by the position that was changed."""
    values, padding = numbers["strip"], numbers.get("padding_from", math.inf)
    length = numbers.get("length", 0.0)
    part = f" ({len(values)} of {length:.0f})" if len(values) < length else ""
    _draw.prepare(ax, "", f"changed position{part}", "change of\nthe output")
    ax.plot(range(len(values)), values, "o", color=_draw.COLOURS[0], markersize=4)
    top = max([1e-3, *(one for one in values if math.isfinite(one))])
    ax.set_ylim(-0.05 * top, 1.25 * top)
    ax.xaxis.get_major_locator().set_params(integer=True)
    if padding < len(values):
        ax.axvline(padding - 0.5, color=_draw.GREY, linestyle=":", linewidth=1)
        place = ax.get_xaxis_transform()
        ax.text(padding - 0.3, 1.0, "padding", color=_draw.GREY, fontsize=7, va="top", transform=place)


def _changed_losses(numbers: dict[str, Any]) -> dict[str, float]:
    """Return the losses of the last batch that are known, by what was changed."""
    found = {name: numbers.get(f"input_independence.{key}", math.nan) for key, name in LOSSES.items()}
    return {name: loss for name, loss in found.items() if math.isfinite(loss)}


def _losses(ax: Any, numbers: dict[str, Any]) -> None:
    """Draw the loss of the last batch as it was, and with its inputs or targets changed."""
    losses = _changed_losses(numbers)
    _draw.prepare(ax, "", "", "loss of the last batch")
    ax.plot(range(len(losses)), list(losses.values()), "o", color=_draw.COLOURS[0], markersize=6)
    ax.set_xticks(range(len(losses)), list(losses), fontsize=8, color=_draw.GREY)
    ax.set_xlim(-0.6, len(losses) - 0.4)
    ax.set_ylim(min([0.0, *losses.values()]), 1.15 * max([1e-3, *losses.values()]))
