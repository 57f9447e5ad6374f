"""What two runs are compared by without running anything again: numbers of each step, calls, weights, metrics."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from bugzoo.watching.difference import Divergence, Place, told
from bugzoo.watching.same import apart, first_pair, same
from bugzoo.watching.tape import Entry
from bugzoo.watching.trace import Trace


def recorded(here: Trace, there: Trace, common: int, tolerance: float) -> Divergence | None:
    """The first difference in the numbers of each step, told in the order in which a step makes them."""
    best: Divergence | None = None
    for what, name, ours, theirs, size in _columns(here, there, common):
        for step in sorted(ours.keys() & theirs.keys()):
            if best is not None and best.step is not None and step >= best.step:
                break
            near = tolerance and abs(ours[step] - theirs[step]) <= tolerance * size.get(step, 0.0)
            if not near and not same(ours[step], theirs[step], tolerance):
                mine, other, largest, _ = apart(ours[step], theirs[step])
                best = Divergence(step, what, name, None, Place(mine), Place(other), largest)
    return best


def _columns(
    here: Trace, there: Trace, common: int
) -> Iterator[tuple[str, str, dict[int, float], dict[int, float], dict[int, float]]]:
    """(stage, name, {step: number} of either run, {step: size}), in the order of a step.

    The mean of what BatchNorm gives, and the gradient of a bias in front of it, are 0 but for roundings, of which the tolerated
    part is nothing: their sizes are the spread, and the whole gradient.
    """

    def by_step(values: Any, steps: Any) -> dict[int, float]:
        return {int(step): float(value) for step, value in zip(steps, values, strict=True) if step <= common}

    shared = [name for name in here.modules if name in there.modules]
    for name in shared:
        for place, statistic in enumerate(("mean", "standard deviation", "share of zeros")):
            ours, theirs = (
                by_step(side.module_stats[:, side.modules.index(name), place], side.module_step)
                for side in (here, there)
            )
            spread = by_step(here.module_stats[:, here.modules.index(name), 1], here.module_step) if not place else {}
            yield "forward", f"{statistic} of what {name} gives", ours, theirs, spread
    steps = np.arange(1, common + 1)
    for what, field, name in (
        ("loss", "loss", "the loss"),
        ("old gradient", "leftover", "share of the gradient left over"),
    ):
        ours, theirs = (by_step(getattr(side, field)[:common], steps) for side in (here, there))
        yield what, name, ours, theirs, {}
    names = [[one.name for one in side.parameters] for side in (here, there)]
    for name in reversed([name for name in names[0] if name in names[1]]):
        columns = [
            by_step(side.param_grad_norm[:common, own.index(name)], steps)
            for side, own in zip((here, there), names, strict=True)
            if side.param_grad_norm.ndim == 2 and len(side.param_grad_norm) >= common
        ]
        if len(columns) == 2:
            yield (
                "gradient at the step",
                f"norm of the gradient of {name}",
                columns[0],
                columns[1],
                by_step(here.grad_norm[:common], steps),
            )
    for what, field, name in (
        ("gradient at the step", "grad_norm", "norm of the gradient"),
        ("setting", "learning_rate", "the learning rate"),
        ("setting", "scale", "the scaler's factor"),
        ("update", "update_ratio", "size of the update"),
    ):
        ours, theirs = (by_step(getattr(side, field)[:common], steps) for side in (here, there))
        yield what, name, ours, theirs, {}


# -- what is no training step -------------------------------------------------------------------------------------------


def evaluated(here: Trace, there: Trace) -> tuple[str, ...]:
    """A remark where a model was called without gradients in other modes than its twin."""
    sides = [{(one.module, one.training) for one in side.forwards if not one.grad} for side in (here, there)]
    return tuple(
        f"{where} alone {module} is called without gradients in {'training' if training else 'evaluation'} mode"
        for where, mine, other in (("here", *sides), ("there", *reversed(sides)))
        for module, training in sorted(mine - other)
    )


def afterwards(here: Trace, there: Trace, common: int, tolerance: float) -> Divergence:
    """What differs where every step that both made is equal: how long they went on, evaluations, metrics."""
    if len(here.step) != len(there.step):
        ours, theirs = (f"{len(side.step)} steps, then {_ending(side)}" for side in (here, there))
        places = [
            Place(text, side.error.get("file"), side.error.get("line"))
            for text, side in ((ours, here), (theirs, there))
        ]
        return Divergence(common + 1, "length", "the number of steps", None, places[0], places[1])
    if here.outcome != there.outcome:
        places = [Place(_ending(side), side.error.get("file"), side.error.get("line")) for side in (here, there)]
        return Divergence(None, "ending", "how the run ended", None, places[0], places[1])
    for name, ours, theirs in _calls(here, there):
        if ours.value != theirs.value:
            return Divergence(None, "evaluation", name, None, ours, theirs)
    compared = ["how often a model was called without gradients"]
    if here.live is not None and there.live is not None:
        for what, held in (
            ("evaluation", [_given(side) for side in (here, there)]),
            ("after the run", [_weights(side) for side in (here, there)]),
        ):
            pairs, pair = first_pair(held[0], held[1], tolerance)
            if pair is not None:
                return replace(told(0, pairs, pair), step=None, what=what)
        compared += ["what it was called with there", "the weights after the run"]
    shared = sorted(here.metrics.keys() & there.metrics.keys())
    for name in shared:
        if not same(here.metrics[name], there.metrics[name], tolerance):
            ours, theirs, largest, _ = apart(here.metrics[name], there.metrics[name])
            return Divergence(None, "metric", name, None, Place(ours), Place(theirs), largest)
    return Divergence(None, compared=(*compared, *(["the script's `metrics`"] if shared else [])))


def _weights(trace: Trace) -> list[Entry]:
    models = trace.live.models if trace.live is not None else []
    return [
        Entry("after", f"{name} of {type(model).__name__}", value.detach())
        for model in models
        for name, value in model.state_dict().items()
        if isinstance(value, torch.Tensor)
    ]


def _given(trace: Trace) -> list[Entry]:
    """What a model was given in the last evaluation of each place that makes one."""
    return [
        Entry("batch", f"argument {number} of evaluation {place}", leaf, None, one.file, one.line, _code(trace, one))
        for place, one in enumerate(trace.live.evaluations if trace.live is not None else [], 1)
        for number, leaf in enumerate((t for t in tree_leaves(one.args) if isinstance(t, torch.Tensor)), 1)
    ]


def _code(trace: Trace, one: Any) -> str:
    """The line from which an evaluation was made, as it was then."""
    past = trace.live.past if trace.live is not None else None
    text = past.lines.get(one.file, []) if past is not None else []
    return text[one.line - 1].strip() if 0 < one.line <= len(text) else ""


def _ending(trace: Trace) -> str:
    kind = trace.error.get("type")
    return trace.outcome + (f" ({kind}: {trace.error.get('message', '')[:80]})" if kind else "")


def _calls(here: Trace, there: Trace) -> Iterator[tuple[str, Place, Place]]:
    """How a model was called without gradients: how often in which mode, and from where."""
    counts = [
        {(one.module, one.training): one.count for one in side.forwards if not one.grad} for side in (here, there)
    ]
    lines: list[tuple[Any, ...]] = []
    for side in (here, there):
        calls = side.live.evaluations if side.live is not None else []
        lines.append((calls[-1].file, calls[-1].line, _code(side, calls[-1])) if calls else (None, None, ""))
    for module, training in sorted(counts[0].keys() | counts[1].keys()):
        mode = f"{'training' if training else 'evaluation'} mode"
        ours, theirs = (f"{side.get((module, training), 0)} calls without gradients in {mode}" for side in counts)
        yield f"calls of {module}", Place(ours, *lines[0]), Place(theirs, *lines[1])
