"""In which mode was the model called, with and without gradients?

One bar for each kind of forward pass. With gradients, only the first pass before each backward() is counted; without
gradients, every pass. The strip below shows the mode of the passes with gradients over the steps.
"""

import math
from collections import Counter
from typing import Any

import torch

from bugzoo.diagnostics._tools import batches, column, model_of
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run
from bugzoo.views import _draw
from bugzoo.views.row import Row

MODES = ("eval", "train")
KINDS = ("gradients, backward()", "gradients, no backward()", "no gradients")

ROWS = (
    Row("mode_watch.evaluations", "forward passes without gradients"),
    Row("mode_watch.eval_in_train_mode", "forward passes without gradients in train mode", (0, 0)),
    Row("mode_watch.train_in_eval_mode", "passes before a backward() in eval mode"),
    Row("mode_watch.train_in_eval_share", "share of passes before a backward() in eval mode", (0, 0.2)),
    Row("retained_graphs.evaluations_without", "passes in eval mode without gradients"),
    Row("retained_graphs.evaluations_with_graph", "passes in eval mode with gradients, no backward()", (0, 0)),
    Row("apart_in_eval", "distance of two passes in eval mode, same batch (share)", (0, 1e-4)),
    Row("apart_in_train", "distance of two passes in train mode, same batch (share)"),
    Row("between_modes", "distance between eval and train mode, same batch (share)"),
)


def measure(run: Run) -> dict[str, Any]:
    """Counts of forward passes, the mode over the steps, and distances of outputs on one batch."""
    counts: Counter[tuple[str, str]] = Counter()
    for one in run.trace.forwards:
        kind = KINDS[2] if not one.grad else KINDS[0] if one.followed_by_backward else KINDS[1]
        counts[MODES[one.training], kind] += one.count
    if not counts:
        raise NotApplicable("no forward pass was seen")
    bars = [(mode, kind) for mode in reversed(MODES) for kind in KINDS]
    numbers: dict[str, Any] = {
        "bars": [f"{mode} mode, {kind}" for mode, kind in bars],
        "passes": [float(counts[one]) for one in bars],
        "steps": float(len(column(run.trace.step))),
        "spans": _spans(run),
    }
    try:
        return numbers | _distances(run)
    except Exception:  # the model cannot be called again; the counts still say something
        return numbers


def _spans(run: Run) -> list[tuple[float, float, str]]:
    """Return (first step, last step, mode) of the passes with gradients of the first trained model."""
    trained = [one for one in run.trace.forwards if one.grad and one.learns]
    if not trained:
        return []
    name = max(trained, key=lambda one: one.count).module
    changes = [
        (event.step, bool(event.data.get("training")))
        for event in run.trace.events
        if event.kind == "mode" and event.data.get("grad") and event.data.get("module") == name
    ]
    mode = not changes[0][1] if changes else max(trained, key=lambda one: one.count).training
    found, began = [], 1
    for step, training in changes:
        found.append((float(began), float(step), MODES[mode]))
        began, mode = step, training
    return [*found, (float(began), float(len(column(run.trace.step)) + 1), MODES[mode])]


def _distances(run: Run) -> dict[str, float]:
    """Distances between outputs on the latest batch, with other random numbers, relative to the outputs' size."""
    batch = batches(run)[-1]
    with quiet(model_of(run, batch)) as model:
        one, other = _out(model, batch, 0), _out(model, batch, 1)
    with quiet(model_of(run, batch), training=True) as model:
        trained, again = _out(model, batch, 0), _out(model, batch, 1)
    return {
        "apart_in_eval": _apart(one, other),
        "apart_in_train": _apart(trained, again),
        "between_modes": _apart(one, trained),
    }


def _out(model: torch.nn.Module, batch: Any, seed: int) -> torch.Tensor:
    def seeded(*args: Any, **kwargs: Any) -> Any:  # `call` itself sets the seed to 0
        torch.manual_seed(seed)
        return model(*args, **kwargs)

    return call(seeded, batch.args, batch.kwargs).double()  # pyright: ignore[reportArgumentType]


def _apart(one: torch.Tensor, other: torch.Tensor) -> float:
    size = float(one.norm())
    return float((other - one).norm()) / size if size else math.nan


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw a bar for each kind of pass, and the mode over the steps."""
    names, passes = numbers.get("bars", []), numbers.get("passes", [])
    if not names:
        return
    bars, strip = figure.subplots(2, 1, height_ratios=(5, 1))
    _draw.prepare(bars, "", "forward passes")
    _draw.prepare(strip, "", "optimizer step")
    colour = {"train": _draw.COLOURS[0], "eval": _draw.COLOURS[1]}
    places = range(len(names))
    bars.barh(
        places, [max(value, 0.5) if value else 0 for value in passes], color=[colour[n.split()[0]] for n in names]
    )
    bars.set_xscale("log")
    bars.set_xlim(0.5, max([10.0, *passes]) * 3)
    for place, value in zip(places, passes, strict=True):
        bars.text(max(value, 0.5), place, f" {value:.0f}", color=_draw.GREY, va="center", fontsize=8)
    bars.set_yticks(places, names, fontsize=8, color=_draw.GREY)
    bars.invert_yaxis()
    _strip(strip, numbers, colour)


def _strip(ax: Any, numbers: dict[str, Any], colour: dict[str, str]) -> None:
    spans, end = numbers.get("spans", []), numbers.get("steps", 0.0) + 1
    if not spans or end < 2:
        _draw.absent(ax, "no optimizer step")
        return
    least = end / 200  # a change at the very end is seen, too
    for first, last, mode in spans:
        ax.barh(0, max(last - first, least), left=min(first, end - least), color=colour[mode], height=1.0)
    ax.set_xlim(1, end)
    ax.set_ylim(-0.5, 0.5)
    ax.set_yticks([0], ["mode of passes with gradients"], fontsize=8, color=_draw.GREY)
