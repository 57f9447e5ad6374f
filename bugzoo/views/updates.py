"""How far does one step move each tensor?

To the left the change of all parameters in a step, relative to their size, over the steps: usually 1e-4 to 1e-1. To the
right one point a tensor: its change in one step, repeated on the first batch from the initial weights, and over the
whole run. A tensor without a point did not move there, or began at 0.
"""

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from bugzoo.diagnostics._tools import column
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.body import again
from bugzoo.running.result import Run
from bugzoo.views import _above, _draw, _grouped, _tensors
from bugzoo.views.row import Row

USUAL = (1e-4, 1e-1)
"""Change of all parameters in a step, relative to their size."""
TIMES = 4
"""Repetitions of the loop's body: a bias that starts at 0 has a size then."""
POINTS = 200
MOST = 60
"""Tensors that fit beside one another."""

ROWS = (
    Row("steps", "optimizer steps"),
    Row("backwards", "backward() calls"),
    Row("steps_per_backward", "optimizer steps per backward() call", (0.01, 1)),
    Row("typical_step", "change of all parameters in a step, median (share)", USUAL),
    Row("largest_step", "change of all parameters in a step, largest (share)", (1e-4, 0.5)),
    Row("learning_rate_log.update_ratio", "median change of the parameters, skipped steps as 0 (share)"),
    Row("parameter_audit.largest_change", "change of a tensor over the run, largest (share)", (0.01, 100)),
    Row("loss_scale.skipped_share", "share of steps that the GradScaler skipped", (0, 0.2)),
)


def measure(run: Run) -> dict[str, Any]:
    """Relative changes: of all parameters over the steps, and of each tensor in one step and over the run."""
    trace = run.trace
    step, ratio = column(trace.step), column(trace.update_ratio)
    ratio = ratio if len(ratio) == len(step) else np.full(len(step), math.nan)  # a lost process measured none
    calls = float(trace.environment.get("backwards", np.nansum(column(trace.backwards))))
    numbers: dict[str, Any] = {"steps": float(len(step)), "backwards": calls}
    if calls:
        numbers["steps_per_backward"] = len(step) / calls
    skipped = [event.step for event in trace.events if event.kind == "skipped_step"]
    taken = ratio[~np.isnan(ratio) & ~np.isin(step, skipped)]
    if len(taken):
        numbers |= {"typical_step": float(np.median(taken)), "largest_step": float(taken.max())}
    known = np.flatnonzero(~np.isnan(ratio))
    known = known[:: -(-len(known) // POINTS) or 1]
    numbers |= {"at": step[known].tolist(), "ratio": ratio[known].tolist()}
    if not trace.parameters:
        return numbers
    tensors = _tensors.of(run)
    numbers["tensors"] = float(len(tensors))
    shown = [tensors[place] for place in _grouped.largest(tensors, MOST)]
    numbers |= {"names": [one.name for one in shown], "whole": [one.moved for one in shown]}
    try:
        with _changes(_tensors.live(run, tensors)) as changes:
            again(run, TIMES)
        numbers["one"] = [changes.get(one.name, math.nan) for one in shown]
    except NotApplicable as why:
        numbers["not_repeated"] = str(why)
    return numbers


@contextlib.contextmanager
def _changes(named: dict[str, torch.Tensor]) -> Iterator[dict[str, float]]:
    """Yield name -> |change| / |size before| in the latest step of the optimizer that holds the tensor."""
    names = {id(tensor): name for name, tensor in named.items()}
    found: dict[str, float] = {}
    before: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}

    def note(optimizer: Any, args: Any, kwargs: Any) -> None:
        held = (p for group in optimizer.param_groups for p in group["params"] if id(p) in names)
        before.update({names[id(p)]: (p, p.detach().clone()) for p in held})

    def compare(optimizer: Any, args: Any, kwargs: Any) -> None:
        for name, (now, old) in before.items():
            size = float(old.double().norm())
            found[name] = float((now.detach().double() - old.double()).norm()) / size if size else math.nan
        before.clear()

    hooks = [register_optimizer_step_pre_hook(note), register_optimizer_step_post_hook(compare)]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw the change over the steps, and the change of each tensor."""
    longest = max((len(name) for name in numbers.get("names", [])), default=0)
    figure.set_size_inches(7.0, 2.6 + 0.05 * longest)  # the names stand below the axes
    steps, tensors = figure.subplots(1, 2)
    _draw.prepare(steps, "", "optimizer step", "change in a step / size")
    _draw.prepare(tensors, "", "", "change of a tensor / size")
    _over_steps(steps, numbers)
    series = {"one step": numbers.get("one", []), "whole run": numbers.get("whole", [])}
    drawn = [_draw.points(tensors, values, label, place) for place, (label, values) in enumerate(series.items())]
    if not any(drawn):
        still = all(value == 0 for value in series["whole run"])
        _draw.absent(tensors, "no tensor changed" if still else "no tensor has a finite change")
        return
    tensors.set_yscale("log")
    _draw.decades(tensors, [value for values in series.values() for value in values])
    names = numbers.get("names", [])
    _draw.tensor_names(tensors, names)
    tensors.set_xlim(-1, len(names))  # whole markers at both ends
    if numbers["tensors"] > len(names):
        tensors.set_xlabel(f"the {len(names)} largest of {numbers['tensors']:.0f} tensors", color=_draw.GREY)
    _above.legend(tensors)


def _over_steps(ax: Any, numbers: dict[str, Any]) -> None:
    at, ratio = (np.asarray(numbers.get(key, []), dtype=np.float64) for key in ("at", "ratio"))
    if not len(at):
        _draw.absent(ax, "no step was measured" if numbers.get("steps") else "no optimizer step")
        return
    if not np.isfinite(ratio).any():
        _draw.absent(ax, "no step has a finite change")
        return
    moved = np.isfinite(ratio) & (ratio > 0)
    ax.set_yscale("log")
    _draw.band(ax, *USUAL)
    ax.plot(at[moved], ratio[moved], ".-", color=_draw.COLOURS[0], linewidth=1.2, label="all parameters")
    low, high = min([USUAL[0], *ratio[moved]]), max([USUAL[1], *ratio[moved]])
    ax.set_ylim(low / 3, high * 3)
    if (ratio == 0).any():  # a logarithmic axis has no place for it
        still = at[ratio == 0]
        ax.plot(still, [low / 2.5] * len(still), "v", color=_draw.COLOURS[1], markersize=5, label="exactly 0")
    ax.set_xlim(0, max(at) * 1.03)
    _above.legend(ax)
