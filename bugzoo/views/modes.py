"""In which mode was the model called, with and without gradients?

One bar for each kind of forward pass. With gradients, only the first pass before each backward() is counted; without
gradients, every pass. The strip below shows the mode of the passes with gradients over the steps.
"""

import contextlib
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch

from bugzoo.diagnostics._tools import batches, column, model_of
from bugzoo.diagnostics.numbers import optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run
from bugzoo.views import _draw
from bugzoo.views._seen import Seen

MODES = ("eval", "train")
KINDS = ("gradients, backward()", "gradients, no backward()", "no gradients")

ORDER = ("mode_watch", "retained_graphs", "apart_in_eval", "apart_in_train", "between_modes")


@dataclass(kw_only=True)
class Numbers(Seen):
    """Distances over the outputs' size; `passes`: a count for each bar; `spans`: (first step, last step, mode)."""

    apart_in_eval: float | None = optional("distance of two passes in eval mode, same batch (share)", (0, 0.0001))
    apart_in_train: float | None = optional("distance of two passes in train mode, same batch (share)")
    between_modes: float | None = optional("distance between eval and train mode, same batch (share)")
    bars: list[str] = field(default_factory=list)
    passes: list[float] = field(default_factory=list)
    steps: float = 0.0
    spans: list[tuple[float, float, str]] = field(default_factory=list)


def measure(run: Run) -> Numbers:
    """Counts of forward passes, the mode over the steps, and distances of outputs on one batch."""
    counts: Counter[tuple[str, str]] = Counter()
    for forward in run.trace.forwards:
        kind = KINDS[2] if not forward.grad else KINDS[0] if forward.followed_by_backward else KINDS[1]
        counts[MODES[forward.training], kind] += forward.count
    if not counts:
        raise NotApplicable("no forward pass was seen")
    bars = [(mode, kind) for mode in reversed(MODES) for kind in KINDS]
    numbers = Numbers(
        bars=[f"{mode} mode, {kind}" for mode, kind in bars],
        passes=[float(counts[bar]) for bar in bars],
        steps=float(len(column(run.trace.step))),
        spans=_spans(run),
    )
    with contextlib.suppress(Exception):  # the model cannot be called again; the counts still say something
        numbers.apart_in_eval, numbers.apart_in_train, numbers.between_modes = _distances(run)
    return numbers


def _spans(run: Run) -> list[tuple[float, float, str]]:
    """Return (first step, last step, mode) of the passes with gradients of the first trained model."""
    trained = [forward for forward in run.trace.forwards if forward.grad and forward.learns]
    if not trained:
        return []
    name = max(trained, key=lambda forward: forward.count).module
    changes = [
        (event.step, bool(event.data.get("training")))
        for event in run.trace.events
        if event.kind == "mode" and event.data.get("grad") and event.data.get("module") == name
    ]
    mode = not changes[0][1] if changes else max(trained, key=lambda forward: forward.count).training
    spans, began = [], 1
    for step, training in changes:
        spans.append((float(began), float(step), MODES[mode]))
        began, mode = step, training
    return [*spans, (float(began), float(len(column(run.trace.step)) + 1), MODES[mode])]


def _distances(run: Run) -> tuple[float, float, float]:
    """Return how far outputs on the latest batch are apart, over their size: in eval mode, in train mode, between both.

    Random numbers differ within a mode.
    """
    batch = batches(run)[-1]
    with quiet(model_of(run, batch)) as model:
        first, second = _out(model, batch, 0), _out(model, batch, 1)
    with quiet(model_of(run, batch), training=True) as model:
        trained, again = _out(model, batch, 0), _out(model, batch, 1)
    return _distance(first, second), _distance(trained, again), _distance(first, trained)


def _out(model: torch.nn.Module, batch: Any, seed: int) -> torch.Tensor:
    def seeded(*args: Any, **kwargs: Any) -> Any:  # `call` itself sets the seed to 0
        torch.manual_seed(seed)
        return model(*args, **kwargs)

    return call(seeded, batch.args, batch.kwargs).double()  # pyright: ignore[reportArgumentType]


def _distance(first: torch.Tensor, second: torch.Tensor) -> float:
    size = float(first.norm())
    return float((second - first).norm()) / size if size else math.nan


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw a bar for each kind of pass, and the mode over the steps."""
    names, passes = numbers.bars, numbers.passes
    if not names:
        return
    bars, strip = figure.subplots(2, 1, height_ratios=(5, 1))
    _draw.prepare(bars, "", "forward passes")
    _draw.prepare(strip, "", "optimizer step")
    color = {"train": _draw.COLORS[0], "eval": _draw.SERIES[0]}
    places = range(len(names))
    bars.barh(places, [max(value, 0.5) if value else 0 for value in passes], color=[color[n.split()[0]] for n in names])
    bars.set_xscale("log")
    bars.set_xlim(0.5, max([10.0, *passes]) * 3)
    for place, value in zip(places, passes, strict=True):
        bars.text(max(value, 0.5), place, f" {value:.0f}", color=_draw.INK, va="center", fontsize=_draw.TEXT)
    bars.set_yticks(places, names)
    bars.invert_yaxis()
    _strip(strip, numbers, color)


def _strip(ax: Any, numbers: Numbers, color: dict[str, str]) -> None:
    end = numbers.steps + 1
    if not numbers.spans or end < 2:
        _draw.absent(ax, "no optimizer step")
        return
    least = end / 200  # a change at the very end is seen, too
    for first, last, mode in numbers.spans:
        ax.barh(0, max(last - first, least), left=min(first, end - least), color=color[mode], height=1.0)
    ax.set_xlim(1, end)
    ax.set_ylim(-0.5, 0.5)
    ax.set_yticks([0], ["mode of passes with gradients"])
