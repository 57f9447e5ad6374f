"""How often are gradients clipped, and does the optimizer follow the clipped gradients?

Clipping belongs between backward() and step(). Before backward() it clips nothing, or the previous batch's gradient. After step()
it comes too late. Clipping by norm shortens the gradient and keeps its direction. Clipping by value cuts single elements and
turns the gradient. A limit that is reached at a few percent of the steps guards against outliers. A limit far below every
gradient gives all steps the same length, and acts as another learning rate.
"""

import math
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps, share
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import FLAG, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.rerun.heard import calls
from bugzoo.running.result import Run

COST = 1
VIEW = "gradients"
TITLE = "Limit of the gradients"
KNOWN_PROBLEMS = (
    "A false positive where large gradients are clipped only at the start, at fewer than 1 % of a long run's steps. "
    "It cannot see clipping written by hand, such as grad.clamp_(), and says nothing where the loop's body cannot be run "
    "again."
)
_CLIP = "loss.backward()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), {})"
HEALTHY = example(("loss.backward()", _CLIP.format("1.0")))
SICK = example(
    ("optimizer.step()", "optimizer.step()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)")
)
TIMES = 4
NEAR = 1e-3
"""A norm this close to the limit, as a share of it, was clipped."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Shares between 0 and 1; norms are L2. Shares over the run are NaN for clipping by value."""

    limit: float = number("limit of clipping")
    bites_share: float = number("share of steps clipped to the limit", "a few percent")
    over_share: float = number("share of steps with a gradient above the limit", (0, 0.01))
    times_over: float = number("gradient norm before clipping over the limit, first batch", (0, 10))
    cosine: float = number("cosine between the gradients before and after clipping", (0.99, 1.01))
    by_value: float = number(hidden=FLAG)
    late_share: float = number(hidden=FLAG)
    used_share: float = number(hidden=FLAG)
    calls: float
    touched_share: float
    before: float


unlimited = Alarm(
    below("used_share", 0.1) & above("over_share"),
    "The gradients were compared with their limit of {limit:.3g}. At {over_share:.0%} of the steps the optimizer used a "
    "larger one.",
    "The optimizer should use gradients within the limit (0%).",
)
unused = Alarm(
    below("used_share", 0.1),
    "The gradients were compared before and at the optimizer step. At {used_share:.0%} of the steps they were the limited "
    "ones.",
    "At least {limits[used_share]:.0%} passes; 100% is usual.",
)
turned = Alarm(
    above("by_value") & (below("cosine", 0.9) | above("touched_share", 0.5)),
    "The gradient was compared before and after it was limited to {limit:.3g}. The cosine of the two is {cosine:.2f}.",
    "At least {limits[cosine]:.2f} passes, if at most {limits[touched_share]:.0%} of the elements are limited.",
)
bites = Alarm(
    above("times_over", 20) & above("bites_share", 0.9),
    "The gradient norms were compared with their limit of {limit:.3g}. {bites_share:.0%} of the steps exceed it.",
    "At most {limits[bites_share]:.0%} passes; {usual[bites_share]} are usual.",
)
rescaled = Alarm(
    ~above("by_value") & above("times_over", 3) & below("bites_share", 0.01) & below("over_share", 0.01),
    "The gradient norm was read where it is limited. It is {times_over:.3g} times the limit there, and below it at the "
    "optimizer step.",
    "Both should see the same gradient.",
)
ALARMS = (unlimited, unused, turned, bites, rescaled)


def measure(run: Run) -> Numbers:
    """Shares between 0 and 1 over the run's steps; the rest on its first batch. Raises NotApplicable without clipping."""
    need_steps(run, 3)
    with calls() as heard:
        again(run, TIMES)
    clips = [call for call in heard if call[0] in ("norm", "value")]
    kinds = [kind for kind, _ in heard]
    if "step" not in kinds:
        raise NotApplicable(
            f"the optimizer took none of the first {TIMES} steps (a GradScaler skips steps until it has found its scale)"
        )
    if not clips:
        raise NotApplicable("the training loop does not clip gradients")
    used, late = _placed(kinds)
    # the others clip what no step uses
    steps = [_together(step) for step in _followed(heard) or [[call] for call in clips]]
    typical = {name: float(np.median([step[name] for step in steps])) for name in steps[0]}
    limit = typical["limit"]
    numbers = Numbers(
        calls=len(clips) / max(1, kinds.count("step")),
        used_share=used,
        late_share=late,
        times_over=typical["before"] / limit if limit > 0 else math.inf,
        bites_share=math.nan,
        over_share=math.nan,
        **typical,
    )
    norms = column(run.trace.grad_norm)
    norms = norms[np.isfinite(norms)]
    if not numbers.by_value and len(norms):
        numbers.bites_share = float((np.abs(norms - limit) <= NEAR * limit).mean())
        numbers.over_share = float((norms > (1 + NEAR) * limit).mean())
    return numbers


def _followed(heard: list[tuple[str, dict[str, float]]]) -> list[list[tuple[str, dict[str, float]]]]:
    """The clipping calls between the last backward() and the step, for each step that has any."""
    steps, now = [], []
    for kind, numbers in heard:
        if kind in ("norm", "value"):
            now.append((kind, numbers))
            continue
        if kind == "step" and now:
            steps.append(now)
        now = []
    return steps


def _together(clips: list[tuple[str, dict[str, float]]]) -> dict[str, float]:
    """What the clipping calls of one step do to its gradient. Clipping by value turns it, in any order. Of several norms the
    smallest limit counts."""
    values, norms = ([clip for kind, clip in clips if kind == which] for which in ("value", "norm"))
    touched = float(np.median([clip["touched"] for clip in values])) if values else 0.0
    several = values if values and (touched > 0 or not norms) else norms
    return {
        "by_value": float(several is values),
        "limit": min(clip["limit"] for clip in several),
        "cosine": float(np.median([clip["cosine"] for clip in several])),
        "touched_share": float(np.median([clip["touched"] for clip in several])),
        "before": max(clip["before"] for clip in several),
    }


def _placed(kinds: list[str]) -> tuple[float, float]:
    """(share of steps with clipping between the last backward() and the step, share of clipping calls after a step)."""
    steps = used = late = clips = 0
    ready, last = False, ""
    for kind in kinds:
        if kind == "backward":
            ready = False
        elif kind == "step":
            steps, used = steps + 1, used + ready
            ready = False
        else:
            clips, late, ready = clips + 1, late + (last == "step" and steps > 0), True
        last = kind if kind in ("backward", "step") else last
    # before the first backward() it is unknown whether clipping follows a step: the body may begin where it ended
    first = next((kind for kind in kinds if kind in ("backward", "step", "norm", "value")), "")
    return used / max(1, steps), 0.0 if first in ("norm", "value") else late / max(1, clips)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on clipping at the wrong place, by value, on scaled gradients, and to a limit far below every gradient."""
    suspects: tuple[Suspect, ...] = ()
    if unused(numbers):
        when = "after optimizer.step()" if numbers.late_share > 0.5 else "before backward()"
        cause = "clipping/clipped_after_step" if numbers.late_share > 0.5 else "clipping/clipped_before_backward"
        text = f"gradients are clipped {when}, so the optimizer follows unclipped ones"
        if not math.isnan(numbers.over_share):
            text += f"; {share(numbers.over_share)} of the steps exceed the limit {numbers.limit:.3g}"
            text += f" (usually {Numbers.usual('over_share')})"
        suspects = (Suspect(cause, 0.9, text),)
    elif turned(numbers):
        text = (
            f"clipping by value cuts {share(numbers.touched_share)} of the gradient elements to {numbers.limit:.3g} and "
            f"turns the gradient (cosine {numbers.cosine:.2f}, usually {Numbers.usual('cosine')})"
        )
        suspects = (Suspect("clipping/clipped_by_value", 0.85, text),)
    elif bites(numbers):
        text = (
            f"{share(numbers.bites_share)} of the steps are clipped to {numbers.limit:.3g} (usually "
            f"{Numbers.usual('bites_share')}); the first batch's gradient is {numbers.times_over:.3g} times as long "
            f"(usually {Numbers.usual('times_over')})"
        )
        suspects = (Suspect("clipping/threshold_too_low", 0.8, text),)
    elif rescaled(numbers):
        text = (
            f"the gradient is {numbers.times_over:.3g} times the limit {numbers.limit:.3g} when clipped, and never "
            "reaches it at step(): a GradScaler or similar code divides it in between"
        )
        suspects = (Suspect("precision/clip_without_unscale", 0.85, text),)
    else:
        text = f"gradients are clipped to {numbers.limit:.3g}, between backward() and step()"
        if not math.isnan(numbers.bites_share):
            text += f", at {share(numbers.bites_share)} of the steps (usually {Numbers.usual('bites_share')})"
    return Verdict("clip_rate", bool(suspects), text, numbers.labeled(), suspects)
