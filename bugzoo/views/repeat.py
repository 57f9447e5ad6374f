"""What comes out when the same is asked twice?

One row for each question that could be asked, with a point at the relative difference of the two answers; gray: usual.
A difference near 1e-7 is rounding of float32. The last questions run the script again from its start.
"""

import copy
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import main_output, quiet
from bugzoo.running.result import Run
from bugzoo.views import _calls, _draw
from bugzoo.views.row import Row

ROWS = (
    Row("twice", "a batch passed twice in eval mode, difference", (0, 1e-5)),
    Row("batch_independence.again_gap", "a batch passed twice with equal random numbers, difference", (0, 1e-3)),
    Row("batch_independence.alone_gap", "a sample alone and in its batch, padding kept, difference", (0, 0.01)),
    Row("decoding.first_gap", "first text token by token and at once, difference", (0, 1e-3)),
    Row("decoding.later_gap", "second text token by token and at once, difference", (0, 1e-3)),
    Row("decoding.written", "generated tokens that were compared"),
    Row("fresh_noise.seeded", "calls per step that reset a random generator", (0, 0)),
    Row("fresh_noise.looked_at", "steps that were run again"),
    Row("worker_noise.workers", "worker processes of the loader"),
    Row("worker_noise.noise", "workers that draw random numbers (1: yes)"),
    Row("worker_noise.identical", "share of draws that two workers have in common", (0, 0)),
    Row("worker_noise.repeated", "share of draws that two epochs have in common", (0, 0)),
    Row("determinism.compared", "steps compared with a second run of the script"),
    Row("determinism.first_difference", "first step whose loss differs (0: none)", (0, 0)),
    Row("determinism.size", "relative difference of the loss, first step that differs", (0, 1e-5)),
    Row("determinism.largest", "largest relative difference of the loss", (0, 1e-3)),
    Row("fresh_process.differs", "fresh processes that end differently (1: yes)", (0, 0)),
    Row("resumption.stopped_at", "step at which a run was interrupted, then resumed"),
    Row("resumption.more_steps", "steps made twice (negative: left out)", (0, 0)),
    Row("resumption.first_difference", "first step whose loss differs when resumed (0: none)", (0, 0)),
    Row("resumption.first_rate", "first step whose learning rate differs (0: none)", (0, 0)),
    Row("resumption.size", "relative difference of the loss when it first differs", (0, 1e-5)),
    Row("resumption.largest", "largest relative difference of the loss when resumed", (0, 1e-3)),
    Row("resumption.metric_gap", "difference of the metrics at the end", (0, 1e-5)),
)
QUESTIONS = {
    "a batch twice": ("twice", ""),
    "twice, equal random numbers": ("batch_independence.again_gap", ""),
    "a sample alone and in its batch": ("batch_independence.alone_gap", ""),
    "a text by tokens and at once": ("decoding.first_gap", ""),
    "the second such text": ("decoding.later_gap", ""),
    "the script a second time": ("determinism.largest", "determinism.first_difference"),
    "in fresh processes (0 or 1)": ("fresh_process.differs", ""),
    "interrupted and resumed": ("resumption.largest", "resumption.first_difference"),
}
"""Question -> (its difference, the first step that differs)."""
ZERO, LOW, HIGH = 1e-10, 1e-9, 10.0


def measure(run: Run) -> dict[str, Any]:
    """How far two passes of one batch are apart, while random generators go on. Raises NotApplicable without a batch."""
    given = _calls.latest(run)
    with _kept(given.module), quiet(given.module) as model:
        one, other = (
            main_output(model(*copy.deepcopy(given.args), **copy.deepcopy(given.kwargs))).double() for _ in "12"
        )
    if one.shape != other.shape:
        return {"twice": 1.0}
    if not bool(torch.isfinite(one).all()):
        raise NotApplicable("the model's outputs are not finite")
    return {"twice": float((one - other).abs().mean() / (one.std(correction=0) + 1e-12))}


@contextmanager
def _kept(model: torch.nn.Module) -> Iterator[None]:
    """Restore what `quiet` does not know: attributes of the modules, such as a kept state, and other generators."""
    before = [(vars(module), dict(vars(module))) for module in model.modules()]
    python, numpy = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        for attributes, old in before:
            for name in attributes.keys() - old.keys():
                del attributes[name]
            attributes.update(old)


def draw(numbers: dict[str, Any], figure: Any) -> None:
    """Draw a point for each question that was asked."""
    asked = {name: (numbers.get(key), numbers.get(step)) for name, (key, step) in QUESTIONS.items()}
    found = {name: (gap, step) for name, (gap, step) in asked.items() if isinstance(gap, float) and gap == gap}
    figure.set_size_inches(7.0, 1.2 + 0.27 * max(len(found), 3))
    ax = _draw.axes(figure, "relative difference of the two answers", "")
    if not found:
        _draw.absent(ax, "nothing could be asked twice")
        return
    usual = {row.source: row.range[1] for row in ROWS if row.range}
    ax.set_xscale("log")
    for row, (name, (gap, step)) in enumerate(found.items()):
        end = max(usual[QUESTIONS[name][0]], 3 * ZERO)
        ax.barh(row, end, height=0.8, color=_draw.GREY, alpha=0.2, label="" if row else "usual")
        at = min(max(gap, LOW), HIGH) if gap else ZERO
        ax.plot([at], [row], "o", color=_draw.COLOURS[1], markersize=7)
        text = f"from step {step:.0f} on" if step else ""
        right = at > 1e-3
        ax.annotate(
            text, (at, row), (-7 if right else 7, 0), textcoords="offset points", ha="right" if right else "left",
            va="center", color=_draw.GREY, fontsize=8,
        )  # fmt: skip
    ax.set_yticks(range(len(found)), list(found), color=_draw.GREY, fontsize=8)
    ax.set_ylim(len(found) - 0.4, -0.6)
    ax.set_xlim(ZERO / 3, 3 * HIGH)
    ticks = [10.0**power for power in range(-9, 2, 2)]
    ax.set_xticks([ZERO, *ticks[1:]], ["exactly 0", *(f"{one:g}" for one in ticks[1:])], fontsize=8)
    ax.minorticks_off()
    ax.legend(frameon=False, labelcolor=_draw.GREY, fontsize=8, loc="lower right", bbox_to_anchor=(1.0, 0.98))
