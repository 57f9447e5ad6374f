"""Which line makes the first NaN or infinity when its step runs again?

The watch keeps snapshots, so one step can run again in anomaly mode without the rest of the training. `faithful` says whether
the replayed loss equals the recorded one to the last bit. Where it does not, the script depends on something that no
snapshot holds, and the line is only an indication.
"""

from dataclasses import dataclass

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics.conditions import Alarm, below
from bugzoo.diagnostics.first_non_finite import judge as _judge_first
from bugzoo.diagnostics.first_non_finite import measure as _measure_first
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.errors import UserError
from bugzoo.running.result import Run

COST = 1
TITLE = "NaN and infinity, repeated"
KNOWN_PROBLEMS = (
    "A false positive where the script skips an update on purpose after backward() on a NaN loss, which the next "
    "step includes. "
    "It says nothing without a snapshot near that step, with several ranks, or where the batch was overwritten in "
    "place."
)
HEALTHY = example()
SICK = example(("loss.backward()", "(loss + (0 * logits[0, 0]).log()).backward()"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """The numbers of `first_non_finite`, as the replayed step has them; `found` and `faithful` are 0 or 1."""

    step: float = number("step that was run again")
    faithful: float = number("whether the replayed loss equals the recorded one (1: yes)", (1, 1))
    found: float = number("whether the replay makes a non-finite number (1: yes)", (0, 0))
    loss_step: float
    autocast: str
    scaler: float
    module: str | None = None
    op: str | None = None
    direction: str | None = None
    file: str | None = None
    line: int | None = None
    code: str | None = None
    loss_before: float | None = None
    first_loss: float | None = None
    norm_growth: float | None = None
    bad_input: float


non_finite = Alarm(
    ~below("found", 1),
    "Step {step:.0f} ran again from its own weights and batch. NaN or infinity appears there again.",
    "The step should stay finite.",
)
ALARMS = (non_finite,)


def measure(run: Run) -> Numbers:
    """`found` 0/1, op, module, file, line. Raises NotApplicable in a finite run, or without snapshots of the step."""
    first = _measure_first(run)
    if not first.found:
        raise NotApplicable("every loss and gradient was finite: there is no step to replay")
    if getattr(run.trace, "live", None) is None:
        raise NotApplicable("this needs the live run, and the trace holds only numbers")
    try:
        replay = run.trace.replay(int(first.step))
    except UserError as why:
        raise NotApplicable(str(why)) from None
    operation = {key: value for key, value in (replay.first or {}).items() if value is not None}
    again = {"found": float(replay.first is not None), "faithful": float(replay.faithful), "step": float(replay.step)}
    return Numbers.from_mapping(first.measured() | operation | again)


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires when the replayed step makes a non-finite number; the suspect's place is the line that made it."""
    if not non_finite(numbers):
        text = f"step {numbers.step:.0f} stays finite when it runs again"
        return Verdict("replay", False, text, numbers.labeled())
    verdict = _judge_first(numbers.measured())
    where = f"{numbers.file}:{numbers.line}" if numbers.line else "an unknown line"
    doubt = "" if numbers.faithful else " (the replay was not exact)"
    text = f"{verdict.message}, at {where}{doubt}"
    suspects = tuple(Suspect(s.cause, min(1.0, s.score + 0.05), text, s.file, s.line) for s in verdict.suspects)
    return Verdict("replay", True, text, numbers.labeled(), suspects)
