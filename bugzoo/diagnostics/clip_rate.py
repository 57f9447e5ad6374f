"""How often are gradients clipped, and does the optimizer follow the clipped gradients?

Clipping belongs between backward() and step(). Before backward() it clips nothing, or the previous batch's gradient. After step()
it comes too late. Clipping by norm shortens the gradient and keeps its direction. Clipping by value cuts single elements and
turns the gradient. A limit that is reached at a few percent of the steps guards against outliers. A limit far below every
gradient gives all steps the same length, and acts as another learning rate.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.body import again
from bugzoo.rerun.heard import calls
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "limit": ("limit of clipping", ""),
    "bites_share": ("share of steps clipped to the limit", "a few percent"),
    "over_share": ("share of steps with a gradient above the limit", "0 to 0.01"),
    "times_over": ("gradient norm before clipping over the limit, first batch", "0 to 10"),
    "cosine": ("cosine between the gradients before and after clipping", "0.99 to 1.01"),
}
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


def measure(run: Run) -> dict[str, Any]:
    """Shares between 0 and 1 over the run's steps; the rest on its first batch. Raises NotApplicable without clipping."""
    need_steps(run, 3)
    with calls() as heard:
        again(run, TIMES)
    clips = [(kind, numbers) for kind, numbers in heard if kind in ("norm", "value")]
    if all(kind != "step" for kind, _ in heard):
        raise NotApplicable(
            f"the optimizer took none of the first {TIMES} steps (a GradScaler skips steps until it has found its scale)"
        )
    if not clips:
        raise NotApplicable("the training loop does not clip gradients")
    kinds = [kind for kind, _ in heard]
    used, late = _placed(kinds)
    said = [_together(one) for one in _followed(heard) or [[one] for one in clips]]  # the others clip what no step uses
    numbers: dict[str, Any] = {
        "calls": len(clips) / max(1, kinds.count("step")),
        "used_share": used,
        "late_share": late,
    }
    numbers |= {name: float(np.median([one[name] for one in said])) for name in said[0]}
    limit = numbers["limit"]
    numbers |= {
        "times_over": numbers["before"] / limit if limit > 0 else math.inf,
        "bites_share": math.nan,
        "over_share": math.nan,
    }
    norms = column(run.trace.grad_norm)
    norms = norms[np.isfinite(norms)]
    if not numbers["by_value"] and len(norms):
        numbers["bites_share"] = float((np.abs(norms - limit) <= NEAR * limit).mean())
        numbers["over_share"] = float((norms > (1 + NEAR) * limit).mean())
    return numbers


def _followed(heard: list[tuple[str, dict[str, Any]]]) -> list[list[tuple[str, dict[str, Any]]]]:
    """The clipping calls between the last backward() and the step, for each step that has any."""
    found, now = [], []
    for kind, numbers in heard:
        if kind in ("norm", "value"):
            now.append((kind, numbers))
            continue
        if kind == "step" and now:
            found.append(now)
        now = []
    return found


def _together(clips: list[tuple[str, dict[str, Any]]]) -> dict[str, float]:
    """What the clipping calls of one step do to its gradient. Clipping by value turns it, in any order. Of several norms the
    smallest limit counts."""
    values, norms = ([one for kind, one in clips if kind == wanted] for wanted in ("value", "norm"))
    touched = float(np.median([one["touched"] for one in values])) if values else 0.0
    several = values if values and (touched > 0 or not norms) else norms
    return {
        "by_value": float(several is values),
        "limit": min(one["limit"] for one in several),
        "cosine": float(np.median([one["cosine"] for one in several])),
        "touched_share": float(np.median([one["touched"] for one in several])),
        "before": max(one["before"] for one in several),
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


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on clipping at the wrong place, by value, on scaled gradients, and to a limit far below every gradient."""
    shown = pick(numbers, "limit", "bites_share", "over_share", "times_over", "used_share", "cosine")
    if numbers["used_share"] < 0.1:
        when = "after optimizer.step()" if numbers["late_share"] > 0.5 else "before backward()"
        cause = "clipping/clipped_after_step" if numbers["late_share"] > 0.5 else "clipping/clipped_before_backward"
        text = f"gradients are clipped {when}, so the optimizer follows unclipped ones"
        if not math.isnan(numbers["over_share"]):
            text += (
                f"; {share(numbers['over_share'])} of the steps exceed the limit {numbers['limit']:.3g} (usually 0%)"
            )
        return Verdict("clip_rate", True, text, shown, (Suspect(cause, 0.9, text),))
    if numbers["by_value"] and (numbers["cosine"] < 0.9 or numbers["touched_share"] > 0.5):
        text = (
            f"clipping by value cuts {share(numbers['touched_share'])} of the gradient elements to {numbers['limit']:.3g} and "
            f"turns the gradient (cosine {numbers['cosine']:.2f}, usually 1)"
        )
        return Verdict("clip_rate", True, text, shown, (Suspect("clipping/clipped_by_value", 0.85, text),))
    if numbers["times_over"] > 20 and numbers["bites_share"] > 0.9:
        text = (
            f"{share(numbers['bites_share'])} of the steps are clipped to {numbers['limit']:.3g} (usually a few percent); the "
            f"first batch's gradient is {numbers['times_over']:.3g} times as long (usually below 10)"
        )
        return Verdict("clip_rate", True, text, shown, (Suspect("clipping/threshold_too_low", 0.8, text),))
    met = max(numbers["bites_share"], numbers["over_share"])
    if not numbers["by_value"] and numbers["times_over"] > 3 and met < 0.01:
        text = (
            f"the gradient is {numbers['times_over']:.3g} times the limit {numbers['limit']:.3g} when clipped, and never "
            "reaches it at step(): a GradScaler or similar code divides it in between"
        )
        return Verdict("clip_rate", True, text, shown, (Suspect("precision/clip_without_unscale", 0.85, text),))
    text = f"gradients are clipped to {numbers['limit']:.3g}, between backward() and step()"
    if not math.isnan(numbers["bites_share"]):
        text += f", at {share(numbers['bites_share'])} of the steps (usually a few percent)"
    return Verdict("clip_rate", False, text, shown)
