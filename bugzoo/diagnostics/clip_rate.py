"""How often does clipping bite, and is what the optimiser follows what was clipped?

Clipping belongs between backward() and step(). Before backward() it cuts nothing, or the gradient of the batch before; behind
step() it cuts what has been followed already. By norm it shortens the gradient and keeps its direction; by value it cuts
single numbers off, and turns it. A limit that is met at a few steps in a hundred guards against outliers; one that lies far
below every gradient makes all steps equally long, and what is left is a learning rate by another name.
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
    "limit": ("limit that gradients are cut to", ""),
    "bites_share": ("share of steps at which it was met", "a few in a hundred"),
    "over_share": ("share of steps whose gradient was longer than that", "0"),
    "times_over": ("length before over limit, on the first batch", "below 10"),
    "cosine": ("cosine of the gradient before and after", "1"),
}
_CLIP = "loss.backward()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), {})"
HEALTHY = example(("loss.backward()", _CLIP.format("1.0")))
SICK = example(
    ("optimizer.step()", "optimizer.step()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)")
)
TIMES = 4
NEAR = 1e-3
"""A norm within this part of the limit was cut to it."""


def measure(run: Run) -> dict[str, Any]:
    """Shares between 0 and 1 over the steps of the run; the rest on its first batch. Raises NotApplicable without clipping."""
    need_steps(run, 3)
    with calls() as heard:
        again(run, TIMES)
    clips = [(kind, numbers) for kind, numbers in heard if kind in ("norm", "value")]
    if all(kind != "step" for kind, _ in heard):
        raise NotApplicable(
            f"none of the first {TIMES} steps was made (a GradScaler that finds its scale leaves them out)"
        )
    if not clips:
        raise NotApplicable("nothing in the loop's body limits the gradients")
    kinds = [kind for kind, _ in heard]
    used, late = _placed(kinds)
    said = [_together(one) for one in _followed(heard) or [[one] for one in clips]]  # the rest cuts what nobody follows
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
    """The clippings between the last backward() and the step, of each step that has any."""
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
    """What the clippings of one step do to its gradient. One by value that cuts turns it wherever it stands; of norms the
    tightest counts."""
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
    """(share of steps with a clipping between the last backward() and the step, share of clippings that follow a step)."""
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
    # before the first backward() nothing says whether a clipping follows a step: each body begins as it ended
    first = next((kind for kind in kinds if kind in ("backward", "step", "norm", "value")), "")
    return used / max(1, steps), 0.0 if first in ("norm", "value") else late / max(1, clips)


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on clipping at the wrong moment, in another unit, that turns the gradient, and at a limit far below every one."""
    shown = pick(numbers, "limit", "bites_share", "over_share", "times_over", "used_share", "cosine")
    if numbers["used_share"] < 0.1:
        when = "behind the optimiser's step" if numbers["late_share"] > 0.5 else "before backward()"
        cause = "clipping/clipped_after_step" if numbers["late_share"] > 0.5 else "clipping/clipped_before_backward"
        text = f"the gradients are clipped {when}: of what the optimiser follows nothing was cut"
        if not math.isnan(numbers["over_share"]):
            text += (
                f", and {share(numbers['over_share'])} of the steps were longer than the limit {numbers['limit']:.3g}"
            )
        return Verdict("clip_rate", True, text, shown, (Suspect(cause, 0.9, text),))
    if numbers["by_value"] and (numbers["cosine"] < 0.9 or numbers["touched_share"] > 0.5):
        text = (
            f"single numbers of the gradient are cut to {numbers['limit']:.3g}: {share(numbers['touched_share'])} of them, so "
            f"that its direction turns (cosine {numbers['cosine']:.2f})"
        )
        return Verdict("clip_rate", True, text, shown, (Suspect("clipping/clipped_by_value", 0.85, text),))
    if numbers["times_over"] > 20 and numbers["bites_share"] > 0.9:
        text = (
            f"{share(numbers['bites_share'])} of the steps are cut to the limit {numbers['limit']:.3g}, and the first batch's "
            f"gradient is {numbers['times_over']:.3g} times as long"
        )
        return Verdict("clip_rate", True, text, shown, (Suspect("clipping/threshold_too_low", 0.8, text),))
    met = max(numbers["bites_share"], numbers["over_share"])
    if not numbers["by_value"] and numbers["times_over"] > 3 and met < 0.01:
        text = (
            f"where it is clipped the gradient is {numbers['times_over']:.3g} times as long as the limit "
            f"{numbers['limit']:.3g}, and what the optimiser follows never comes near it: something divides it in between, as "
            "a GradScaler does"
        )
        return Verdict("clip_rate", True, text, shown, (Suspect("precision/clip_without_unscale", 0.85, text),))
    text = f"gradients are clipped at {numbers['limit']:.3g}, between backward() and step()"
    if not math.isnan(numbers["bites_share"]):
        text += f"; it bites at {share(numbers['bites_share'])} of the steps"
    return Verdict("clip_rate", False, text, shown)
