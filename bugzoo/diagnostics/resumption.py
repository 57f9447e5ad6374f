"""Does training resumed from a checkpoint continue exactly like an uninterrupted run?

The losses of both parts together equal those of an uninterrupted run, to the last bit. If they differ from the first step after
the stop, the order of the batches, dropout or the weights changed. If they differ from the second step on, the weights were
right and the optimizer's update was not. `first_difference` is the step (0 for none), and `more_steps` counts the steps that
were trained twice. `metric_gap` is the difference of the metrics at the end.
"""

import math
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.determinism import NOISE, compare
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.script import interrupted, job_of
from bugzoo.running.job import Job
from bugzoo.running.result import Run

COST = 0
VIEW = "repeat"
TITLE = "A run that was stopped and resumed"
RERUNS = 2
KNOWN_PROBLEMS = (
    "A false positive for a script whose random numbers are not seeded, because two uninterrupted runs differ as "
    "well. "
    "It says nothing about a script without a `stop_after` setting, or without a number of epochs or steps to halve."
)
_LOST = '"optimizer": optimizer.state_dict(), '
_SAVES = (
    ("import torch\n", "import os\nimport torch\n"),
    ("torch.manual_seed(0)\n", "torch.manual_seed(0)\nepochs = 6\nstop_after = 0\n"),
    (
        "for epoch in range(5):\n",
        'start = 0\nif os.path.exists("last.pt"):\n    saved = torch.load("last.pt")\n'
        '    model.load_state_dict(saved["model"])\n    torch.set_rng_state(saved["generator"])\n'
        '    if "optimizer" in saved:\n        optimizer.load_state_dict(saved["optimizer"])\n'
        '    start = saved["epoch"]\nfor epoch in range(start, epochs):\n',
    ),
    (
        "    model.eval()\n",
        "    if epoch + 1 == stop_after:\n"
        f'        saved = {{{_LOST}"model": model.state_dict(), "generator": torch.get_rng_state(), "epoch": stop_after}}\n'
        '        torch.save(saved, "last.pt")\n        break\n    model.eval()\n',
    ),
)
HEALTHY = example(*_SAVES)
SICK = example(*_SAVES[:3], (_SAVES[3][0], _SAVES[3][1].replace(_LOST, "")))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Steps, counted from 1, and differences as shares of the loss; `metric_gap` in the unit of the metric."""

    stopped_at: float = number("step at which a run was interrupted, then resumed")
    more_steps: float = number("steps made twice (negative: left out)", (0, 0))
    first_difference: float = number("first step whose loss differs when resumed (0: none)", (0, 0))
    first_rate: float = number("first step whose learning rate differs (0: none)", (0, 0))
    size: float = number("relative difference of the loss when it first differs", (0, 1e-5))
    largest: float = number("largest relative difference of the loss when resumed", (0, 0.001))
    metric_gap: float = number("difference of the metrics at the end", (0, 1e-5))
    first_large_difference: float | None = None
    compared: float
    steps: float


steps_differ = Alarm(
    above("more_steps") | below("more_steps", 0),
    "Training was stopped after step {stopped_at:.0f} and resumed. The number of steps changed by {more_steps:+.0f}.",
    "It should not change ({limits[more_steps]:.0f}).",
)
losses_differ = Alarm(
    above("first_difference") & ~(above("first_difference", 1) & below("size", NOISE)),
    "Training was stopped after step {stopped_at:.0f} and resumed. From step {first_difference:.0f} on the losses "
    "differ, by {size:.2g}.",
    "They should be equal, up to rounding.",
)
metrics_differ = Alarm(
    ~below("metric_gap", NOISE),
    "Training was stopped after step {stopped_at:.0f} and resumed. The results at the end differ by {metric_gap:.2g}.",
    "They should be equal, up to rounding.",
)
ALARMS = (steps_differ, losses_differ, metrics_differ)


def again(job: Job) -> tuple[Run, ...]:
    """The run that is stopped and the one that resumes. Raises NotApplicable for a script that cannot be stopped."""
    return interrupted(job)


def measure(run: Run, *parts: Run) -> Numbers:
    """Compare with `parts`: the run that was stopped half way, and the one that resumed from its files.

    Raises NotApplicable where the script cannot be stopped, or one of them did not finish.
    """
    need_steps(run, 1)
    stopped, resumed = _pair(parts or again(job_of(run, "to stop it and start it again")))
    joined = np.concatenate([column(stopped.trace.loss), column(resumed.trace.loss)])
    rates = [_rates(part) for part in (run, stopped, resumed)]
    shared = set(run.trace.metrics) & set(resumed.trace.metrics)
    gaps = [abs(run.trace.metrics[name] - resumed.trace.metrics[name]) for name in shared]
    return Numbers(
        **compare(run.trace.loss, joined),
        stopped_at=float(len(column(stopped.trace.loss))),
        more_steps=float(len(joined) - len(column(run.trace.loss))),
        metric_gap=float(max(gaps, default=0.0)),
        first_rate=compare(rates[0], np.concatenate(rates[1:]))["first_difference"] if all(map(len, rates)) else 0.0,
        steps=float(len(column(run.trace.step))),
    )


def _pair(parts: tuple[Run, ...]) -> tuple[Run, Run]:
    names = ("the run that was to stop half way", "the run that was to go on from there")
    for name, part in zip(names, parts, strict=False):
        if part.outcome != "finished":
            raise NotApplicable(f"{name} ended as {part.outcome}{_error(part)}")
    if not parts[0].files:
        raise NotApplicable("the run that was stopped half way left no file in its folder to resume from")
    return parts[0], parts[1]


def _error(part: Run) -> str:
    message = part.trace.error.get("message")
    return f" ({str(message)[:120]})" if message else ""


def _rates(run: Run) -> np.ndarray:
    rates = column(run.trace.learning_rate)
    return rates[np.isfinite(rates)]


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires when a stopped and resumed training differs from an uninterrupted one."""
    first, stopped, more = numbers.first_difference, numbers.stopped_at, numbers.more_steps
    fired = any(alarm(numbers) for alarm in ALARMS)
    causes = ()
    text = (
        f"resumed after step {stopped:.0f}, the run differs from step {first:.0f} on by {numbers.size:.1g} of the loss"
    )
    if steps_differ(numbers):
        extra = "steps are trained twice" if more > 0 else "steps are skipped"
        text = f"stopped after step {stopped:.0f} and resumed: {abs(more):.0f} {extra}"
        text += f" (usually {Numbers.usual('more_steps')})"
    elif not fired:
        after = "to the last bit" if not first else "up to rounding"
        text = f"stopped after step {stopped:.0f} and resumed, the run continues as before, {after}"
    elif not losses_differ(numbers):
        text = f"the losses after the stop are equal, but the metrics at the end differ by {numbers.metric_gap:.2g}"
        causes = (("last_instead_of_best", 0.5),)
    elif numbers.first_rate > stopped + 1:  # the optimizer's state holds the learning rate of the first step
        text += ": the learning rate is different"
        causes = (("scheduler_restarted", 0.6),)
    elif math.isclose(first, stopped + 1) or first <= stopped:
        text += ": RNG state or weights are not those of the stop"
        causes = (("generator_not_restored", 0.5), ("last_instead_of_best", 0.2))
    else:
        text += ": the weights match the checkpoint, the next update does not"
        causes = (("optimizer_state_lost", 0.6), ("scaler_state_lost", 0.2))
    suspects = tuple(Suspect(f"resume/{name}", score, text) for name, score in causes)
    return Verdict("resumption", fired, text, numbers.labeled(), suspects)
