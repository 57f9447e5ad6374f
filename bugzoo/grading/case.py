"""Grading the diagnosis of a lesson's case: as in an exercise, with the result in words."""

from collections.abc import Mapping
from typing import Any

from bugzoo.choices import choices
from bugzoo.errors import UserError
from bugzoo.grading import diagnosis, repairs
from bugzoo.grading.onset import onset as first_shown
from bugzoo.scenario import Scenario

WEIGHTS = diagnosis.Weights(cause=0.4, place=0.25, step=0.15, evidence=0.0, test=0.2)
"""Weights of a lesson's questions: cause, line, first step and discriminating test."""

SAID = {"cause": "cause", "place": "line", "step": "first step", "test": "discriminating test"}


def judged(case: Scenario, given: Mapping[str, Any], onset: int | None = None) -> str:
    """Return a line for each part of a diagnosis (`form.diagnosis.record()`): the answer, and whether it is right.

    `onset`: the first step, from 1, at which the reader's run showed the fault, for one that waits for its data; the step after
    it counts as well, as the loss is late. Without it, that step is measured here. Raises UserError for a case without a fault
    or with several.
    """
    if len(case.specs) != 1:
        raise UserError(f"Only a case with one fault can be graded; {case.ticket} has {len(case.specs)}.")
    [(fault, params)] = case.specs
    broken = case.source
    accepted = [case.healthy().source, *repairs.repairs(broken, fault, params).values()]
    step = (onset, onset + 1) if onset is not None else first_shown(fault, params, broken, case.ranks)
    right = diagnosis.right(fault, params, broken, accepted, choices(fault, case.ticket), step)
    parts = diagnosis.judge(right, given, WEIGHTS)
    lines = []
    for part in parts:
        saw = part.saw or "nothing"
        lines.append(f"  {'ok ' if part.share == 1 else 'NOT'}  {SAID[part.name]}: you said {saw!r}")
    good = sum(part.share == 1 for part in parts)
    return "\n".join([*lines, f"{good} of {len(parts)} are right."])
