"""Vital signs of one run: it finished with finite losses, and no instrument fires."""

from dataclasses import replace

import numpy as np

from bugzoo.diagnostics import Verdict, reruns
from bugzoo.diagnostics.numbers import of_instrument
from bugzoo.grading.model import Check, state_of
from bugzoo.grading.readings import judged
from bugzoo.grading.symptoms import passes, symptom
from bugzoo.running import Run


def finished(run: Run) -> list[Check]:
    """Check that the run finished with finite losses."""
    losses = np.asarray(run.trace.loss, dtype=np.float64)
    if run.outcome == "crashed":
        error = run.trace.error
        place = f" in line {error.get('line')}" if error.get("line") else ""
        message = " ".join(str(error.get("message") or "").split())[:300].rstrip(".")
        saw = f"The program was run. It stopped with {error.get('type', 'an error')}{place}{': ' if message else ''}{message}."
        expected = "It should run to its end."
        if error.get("type") == "NameError":
            expected += " Only cells that begin with `%%program` are part of the program."
        return [Check("run", "your code raised", saw, expected, group="runs")]
    finite = bool(len(losses)) and bool(np.isfinite(losses).all())
    good = run.outcome == "finished" and finite
    ended = "finished" if run.outcome in ("finished", "non_finite") else f"ended as {run.outcome.replace('_', ' ')}"
    lost = ", with losses that are not finite" if len(losses) and not finite else ""
    sentence = f"The program was run. It {ended} after {len(losses)} optimizer steps{lost}."
    expected = "It should finish, and every loss should be finite."
    return [Check("run", state_of(good), sentence, expected, float(len(losses)), group="runs")]


def vital(run: Run, ignore: tuple[str, ...] = ()) -> list[Check]:
    """Check that the run finished with finite losses and that no instrument fires."""
    checks = finished(run)
    if checks[0].status == "your code raised":
        return checks
    good = checks[0].passed
    verdicts, spoilt = judged(run.readings)
    if spoilt:
        saw = f"The numbers of the run were read. {len(spoilt)} of them are not readable: {', '.join(spoilt)[:200]}."
        expected = "They should be what the instruments measure."
        checks.append(Check("account", "wrong", saw, expected, group="runs"))
    for verdict in verdicts:
        if verdict.fired and verdict.instrument not in ignore:
            number, numbers = _number(verdict), run.readings[verdict.instrument].numbers
            saw = symptom(verdict.instrument, numbers)
            expected = passes(verdict.instrument, numbers)
            # what compares several runs of the script says whether they are the same
            group = "every_run" if reruns(verdict.instrument) else "gone"
            checks.append(Check(verdict.instrument, "wrong", saw, expected, number, group=group))
    if len(checks) == 1 and good:
        saw = "The run was measured with all instruments. None of them raises an alarm."
        checks.append(Check("instruments", "passed", saw, group="gone"))
    return checks


def _number(verdict: Verdict) -> float | None:
    """Return the first number of a verdict that is outside its usual range, or else the first."""
    record, numbers = of_instrument(verdict.instrument), verdict.numbers
    outside = [key for key in numbers if replace(record[key], source=key).outside(numbers)]
    return next((numbers[key] for key in (*outside, *numbers)), None)
