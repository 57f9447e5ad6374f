"""Does a gradient scaler keep the factor that it has found?

It begins high, halves its factor at each step whose gradient overflows, which is left out, and doubles it after many good ones.
Between two steps of one optimiser it at most doubles. `rise` is the largest factor between one step's and the next's, `before`
and `step` say from where and when it rose so, and `left_out` counts the steps among the 20 behind it that were left out: what it
costs to find the factor a second time.
"""

from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "rise": ("times the factor on the loss that the step before had, at most", "1 or 2"),
    "before": ("factor before it rose so", ""),
    "step": ("step at which it rose so", ""),
    "left_out": ("of the 20 steps behind it, left out", "0"),
}
_MADE = 'scaler = torch.amp.GradScaler("cpu", init_scale=2.0**120)\n'
_SCALED = (
    ("loss.backward()", "scaler.scale(loss * 1e4).backward()"),
    ("optimizer.step()", "scaler.step(optimizer)\n        scaler.update()"),
)
HEALTHY = example(("for epoch", f"{_MADE}for epoch"), *_SCALED)
SICK = example(("    model.train()", f"    {_MADE}    model.train()"), *_SCALED)
JUMP, BEHIND = 4.0, 20
"""Times: a scaler that is told to grow faster than by 2 hardly grows by more; and how many steps behind it are looked at."""


def measure(run: Run) -> dict[str, Any]:
    """A ratio, a factor and counts. Raises NotApplicable without a scaler."""
    steps = need_steps(run, 2)
    scale, optimizer = column(run.trace.scale), column(run.trace.optimizer)
    if not np.isfinite(scale).any():
        raise NotApplicable("no gradient scaler was seen")
    with np.errstate(divide="ignore", invalid="ignore"):
        rises = scale[1:] / scale[:-1]
    rises[~np.isfinite(rises) | (optimizer[1:] != optimizer[:-1])] = 1.0  # another optimiser: another training
    place = int(np.argmax(rises))
    skipped = {event.step for event in run.trace.events if event.kind == "skipped_step"}
    first = place + 2  # steps count from 1, and it rose behind the one at `place`
    return {
        "rise": float(rises[place]),
        "before": float(scale[place]),
        "step": float(first),
        "left_out": float(sum(first <= step < first + BEHIND for step in skipped)),
        "steps": float(steps),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on a factor that rises by more than a scaler lets it grow."""
    shown = pick(numbers, *SHOWN)
    if numbers["rise"] > JUMP:
        text = f"at step {numbers['step']:.0f} the scaler's factor is {numbers['rise']:.3g} times what it was a step before"
        text += f" ({numbers['before']:.3g}), and {numbers['left_out']:.0f} of the {BEHIND} steps from there on are left out"
        return Verdict("scale_course", True, text, shown, (Suspect("resume/scaler_state_lost", 0.8, text),))
    return Verdict("scale_course", False, "the scaler kept the factor that it had found", shown)
