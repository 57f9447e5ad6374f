"""Which line makes the first NaN or infinity when its step runs again?

The watch keeps snapshots, so one step can run again in anomaly mode without the rest of the training. `faithful` says whether
the replayed loss equals the recorded one to the last bit. Where it does not, the script depends on something that no
snapshot holds, and the line is only an indication.
"""

from typing import Any

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import pick
from bugzoo.diagnostics.first_non_finite import judge as _judge_first
from bugzoo.diagnostics.first_non_finite import measure as _measure_first
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.errors import UserError
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "step": ("step that was run again", ""),
    "faithful": ("whether the replayed loss equals the recorded one (1: yes)", "1"),
    "found": ("whether the replay makes a non-finite number (1: yes)", "0"),
}
KNOWN_PROBLEMS = (
    "A false positive where the script skips an update on purpose after backward() on a NaN loss, which the next "
    "step includes. "
    "It says nothing without a snapshot near that step, with several ranks, or where the batch was overwritten in "
    "place."
)
HEALTHY = example()
SICK = example(("loss.backward()", "(loss + (0 * logits[0, 0]).log()).backward()"))


def measure(run: Run) -> dict[str, Any]:
    """`found` 0/1, op, module, file, line. Raises NotApplicable in a finite run, or without snapshots of the step."""
    first = _measure_first(run)
    if not first["found"]:
        raise NotApplicable("every loss and gradient was finite: there is no step to replay")
    if getattr(run.trace, "live", None) is None:
        raise NotApplicable("this needs the live run, and the trace holds only numbers")
    try:
        replay = run.trace.replay(int(first["step"]))
    except UserError as why:
        raise NotApplicable(str(why)) from None
    found = replay.first or {}
    numbers = first | {key: value for key, value in found.items() if value is not None}
    return numbers | {
        "found": float(replay.first is not None),
        "faithful": float(replay.faithful),
        "step": float(replay.step),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires when the replayed step makes a non-finite number; the suspect's place is the line that made it."""
    shown = pick(numbers, "found", "faithful", "step")
    if not numbers["found"]:
        return Verdict("replay", False, f"step {numbers['step']:.0f} stays finite when it runs again", shown)
    verdict = _judge_first(numbers)
    where = f"{numbers.get('file')}:{numbers.get('line')}" if numbers.get("line") else "an unknown line"
    doubt = "" if numbers["faithful"] else " (the replay was not exact)"
    text = f"{verdict.message}, at {where}{doubt}"
    suspects = tuple(Suspect(s.cause, min(1.0, s.score + 0.05), text, s.file, s.line) for s in verdict.suspects)
    return Verdict("replay", True, text, shown, suspects)
