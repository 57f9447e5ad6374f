"""What a repaired run has to show: the fault is gone, every parameter trains, and the loss falls as in the healthy twin."""

import math

import numpy as np

from bugzoo.faults.evidence import parse
from bugzoo.grading import second_run
from bugzoo.grading.model import Check, state_of
from bugzoo.grading.submission import Submission
from bugzoo.grading.symptoms import symptom
from bugzoo.running import Reading

FALL, FALL_SHARE = 1.5, 0.1
"""How far above the twin's the training loss may end, both as shares of the first loss: factor, plus."""


def compared(one: Submission) -> list[Check]:
    """Check that each instrument that compares two runs had two runs. Raises UserError for a program's unusable facts."""
    return [_two_runs(one, name) for name in second_run.judges(one.case)]


def _two_runs(one: Submission, name: str) -> Check:
    reading = one.readings.get(name, Reading(why_not="there was no second run"))
    outcome = "Both finished" if reading.applies else f"They could not be compared: {reading.why_not}"
    saw = f"The program was run a second time. {outcome}."
    expected = "Both runs should finish."
    return Check("second run", state_of(reading.applies), saw, expected, group="every_run")


def illness(one: Submission) -> list[Check]:
    """Check that the original faults are gone, by their own evidence."""
    still = one.showing
    named: dict[str, list[str]] = {}
    for claim in (parse(text) for fault in still for text in fault.evidence):
        named.setdefault(claim.instrument, []).append(claim.left.partition(".")[2])
    texts = [symptom(name, one.readings[name].numbers, named[name]) for name in sorted(named) if name in one.readings]
    sentence = " ".join(texts) or f"The run ended as {one.run.outcome}."
    if not still:
        sentence = "The numbers that showed a fault were measured again. They show none."
    saw = f"The original fault still shows. {sentence}" if still else sentence
    return [Check("symptom", state_of(not still), saw, "It should no longer show.", group="gone")]


def trained(one: Submission) -> list[Check]:
    """Check that every parameter moved that moves in the twin, by the trace and against the initial weights."""
    still, usual = one.still, one.twin.untouched
    sentence = f"{still} parameter values never changed" if still else "All of them changed"
    saw = f"The values of all parameters were compared before and after training. {sentence}."
    expected = f"At most {usual} may stay as they were, as in the healthy program."
    return [Check("training", state_of(still <= usual), saw, expected, float(still), group="runs")]


def fall(one: Submission) -> list[Check]:
    """Check that the training loss ends as low as the twin's, in any unit: both as shares of the first loss."""
    share, usual = _end(one.losses), _end(np.asarray(one.twin.losses, dtype=np.float64))
    ceiling = FALL * usual + FALL_SHARE
    end = f"{share:.0%} of its first value (healthy: {usual:.0%})"
    if not math.isfinite(share):
        end = "a value that is not finite"
    saw = f"The first and the last losses of the training were compared. The training loss ends at {end}."
    expected = f"At most {ceiling:.0%} passes."
    return [Check("training loss", state_of(share <= ceiling), saw, expected, share, group="runs")]


def _end(losses: np.ndarray) -> float:
    """Return the mean of the last tenth, divided by the mean of the first three."""
    if len(losses) < 3 or not np.isfinite(losses).all() or not losses[:3].mean() > 0:
        return math.inf
    return float(losses[-max(len(losses) // 10, 1) :].mean() / losses[:3].mean())
