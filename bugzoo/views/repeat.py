"""What comes out when the same is asked twice?

One row for each question that could be asked, with a point at the relative difference of the two answers; gray: usual.
A difference near 1e-7 is rounding of float32. The last questions run the script again from its start.
"""

import copy
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bugzoo.diagnostics.numbers import optional
from bugzoo.diagnostics.verdict import NotApplicable
from bugzoo.rerun.model import main_output, quiet
from bugzoo.running.result import Run
from bugzoo.views import _calls, _draw, rows
from bugzoo.views._seen import Seen

ORDER = (
    "twice", "batch_independence", "decoding", "fresh_noise", "worker_noise", "determinism", "fresh_process",
    "resumption",
)  # fmt: skip
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


@dataclass(kw_only=True)
class Numbers(Seen):
    """The difference is over the spread of the outputs; 1 if their shapes differ."""

    twice: float | None = optional("a batch passed twice in eval mode, difference", (0, 1e-5))


def measure(run: Run) -> Numbers:
    """How far two passes of one batch are apart, while random generators go on. Raises NotApplicable without a batch."""
    latest = _calls.latest(run)
    with _restored(latest.module), quiet(latest.module) as model:
        inputs = (copy.deepcopy((latest.args, latest.kwargs)) for _ in range(2))
        first, second = (main_output(model(*args, **kwargs)).double() for args, kwargs in inputs)
    if first.shape != second.shape:
        return Numbers(twice=1.0)
    if not bool(torch.isfinite(first).all()):
        raise NotApplicable("the model's outputs are not finite")
    return Numbers(twice=float((first - second).abs().mean() / (first.std(correction=0) + 1e-12)))


@contextmanager
def _restored(model: torch.nn.Module) -> Iterator[None]:
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


def draw(numbers: Numbers, figure: Any) -> None:
    """Draw a point for each question that was asked."""
    measured = numbers.measured()
    gaps = {name: (measured.get(key), measured.get(step)) for name, (key, step) in QUESTIONS.items()}
    answers = {name: (gap, step) for name, (gap, step) in gaps.items() if isinstance(gap, float) and gap == gap}
    figure.set_size_inches(7.0, 1.2 + 0.27 * max(len(answers), 3))
    ax = _draw.axes(figure, "relative difference of the two answers", "")
    if not answers:
        _draw.absent(ax, "nothing could be asked twice")
        return
    usual = {row.source: row.range[1] for row in rows("repeat") if row.range}
    ax.set_xscale("log")
    for row, (name, (gap, step)) in enumerate(answers.items()):
        end = max(usual[QUESTIONS[name][0]], 3 * ZERO)
        ax.barh(row, end, height=0.8, color=_draw.INK, alpha=0.2, label="" if row else "usual")
        at = min(max(gap, LOW), HIGH) if gap else ZERO
        ax.plot([at], [row], "o", color=_draw.THIS_RUN, markersize=7)
        text = f"from step {step:.0f} on" if step else ""
        right = at > 1e-3
        ax.annotate(
            text, (at, row), (-7 if right else 7, 0), textcoords="offset points", ha="right" if right else "left",
            va="center", color=_draw.INK, fontsize=_draw.TEXT,
        )  # fmt: skip
    ax.set_yticks(range(len(answers)), list(answers))
    ax.set_ylim(len(answers) - 0.4, -0.6)
    ax.set_xlim(ZERO / 3, 3 * HIGH)
    ticks = [10.0**power for power in range(-9, 2, 2)]
    ax.set_xticks([ZERO, *ticks[1:]], ["exactly 0", *(f"{tick:g}" for tick in ticks[1:])])
    ax.minorticks_off()
    _draw.legend(ax)
