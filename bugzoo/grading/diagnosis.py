"""The grader of a diagnosis (cause, place, step, evidence, discriminating test) and its three tables of weights.

The diagnosis is graded apart from the repair. The right answers come from the fault's file, in exercises, assignments
and interviews alike.
"""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bugzoo import views
from bugzoo.choices import Choices
from bugzoo.diagnostics import causes
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.faults.model import Fault
from bugzoo.grading import parse_answers
from bugzoo.syntax import source_lines
from bugzoo.views import views_of

NO_VIEW = "no view was opened"
NEAR = 3
"""Lines by which a place may be off and still count."""


@dataclass(frozen=True)
class Weights:
    """Points for each part of a diagnosis. A part worth nothing is not asked for."""

    cause: float
    place: float
    step: float
    evidence: float
    test: float
    later: float = 1.0
    """Share of `evidence` for a view that shows it but was not the first one; the curve usually comes first."""
    looked: float = 0.0
    """Share of `evidence` for any look at a view."""
    section: float = 0.0
    """Share of `place` for a line in the right section."""
    blamed: float = 0.0
    """Penalty for a finding that fits no fault, as a share of a right one."""
    raised: float = 0.0
    """Points for the line that raised the error."""


EXERCISE = Weights(cause=0.2, place=0.2, step=0.2, evidence=0.2, test=0.2)  # of five points: whole ones
CRASH = Weights(cause=0.2, place=0.2, step=0.2, evidence=0.0, test=0.2, raised=0.2)  # its traceback is the look
ASSIGNMENT = Weights(cause=0.5, place=0.3, step=0.0, evidence=0.2, test=0.0, blamed=0.5)
INTERVIEW = Weights(cause=30, place=15, step=0, evidence=15, test=10, later=2 / 3, looked=1 / 3, section=1 / 3)


@dataclass(frozen=True)
class Right:
    """The right diagnosis of one fault in one program."""

    causes: tuple[str, ...]
    """Every cause of the form that is right for it."""
    places: tuple[tuple[int, int], ...] = ()
    """Line ranges (from 1, inclusive) of the broken text that an accepted repair changes; none: healthy."""
    evidence: tuple[str, ...] = ()
    """Views that show it, the most informative first."""
    step: tuple[int, int] | None = None
    """First and last step that count as the onset; None if it shows from the start and every answer is right."""
    test: Choices = field(default_factory=Choices)
    raised: int | None = None
    """The innermost line of the program in the traceback; None for a run without one."""


@dataclass(frozen=True)
class Part:
    """How right one part of a diagnosis is: `share` from 0 to 1."""

    name: str
    share: float
    saw: str
    expected: str = ""
    number: float | None = None


def right(
    fault: Fault,
    params: Mapping[str, Any],
    broken: str,
    accepted: Sequence[str],
    test: Choices | None = None,
    step: tuple[int, int] | None = None,
) -> Right:
    """Return the right diagnosis of `fault` in the text `broken`; `accepted`: the texts of all passing repairs.

    `step`: what `onset.onset` returns, where the step is asked for.
    """
    places = () if fault.trap else tuple(sorted({place for text in accepted for place in changed_lines(text, broken)}))
    return Right(causes.right(fault.id, params), places, telling(fault), step, test or Choices())


def telling(fault: Fault) -> tuple[str, ...]:
    """Return the views that show a fault: from its evidence, effect and extra list; for a trap all."""
    claims = (*fault.evidence, *([] if fault.trap else [fault.effect]))
    names = [view for text in claims for view in _ending(text) or views_of([parse(text).left])]
    return tuple(dict.fromkeys([*names, *views_of(fault.shown_by), *(views.names() if fault.trap else ())]))


def _ending(claim: str) -> tuple[str, ...]:
    """Return the views for a claim about how the run ends; empty for any other claim."""
    if parse(claim).instrument != "outcome":
        return ()
    return ("memory",) if "out_of_memory" in claim else ("layers",)


def changed_lines(before: str, after: str) -> list[tuple[int, int]]:
    """Return line ranges (from 1, inclusive) of `after` that differ from `before`; a removal includes its neighbors."""
    ranges, (old, new) = [], (source_lines(before), source_lines(after))
    for kind, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            ranges.append((start + 1, end) if end > start else (max(start, 1), start + 1))
    return ranges


def known_cause(given: Any) -> str:
    """Return the form's cause for a written one. Raises UserError with the list for an unknown cause."""
    return causes.named(given)


def judge(right: Right, given: Mapping[str, Any], weights: Weights, source: str = "") -> list[Part]:
    """Grade every part that has a weight, cause first. `source`: the broken text, to give credit for the section."""
    parts = [_cause(right, given.get("cause")), _place(right, given.get("place"), weights, source)]
    parts += [_step(right, given.get("step")), _evidence(right, given.get("evidence"), weights)]
    parts += [_test(right, given.get("test")), _raised(right, given.get("raised"))]
    return [part for part in parts if getattr(weights, part.name)]


def worth(parts: Sequence[Part], weights: Weights) -> float:
    """Return the weighted sum of the shares."""
    return round(sum(getattr(weights, part.name) * part.share for part in parts), 4)


def _cause(right: Right, given: Any) -> Part:
    try:
        good = known_cause(given) in right.causes
    except UserError:
        good = False
    others = [cause for cause in right.causes if good and cause != known_cause(given)]
    saw = f"{given or ''}" + (f"; also right: {', '.join(others)}" if others else "")
    return Part("cause", float(good), saw)


def near(right: Right, line: int | None) -> bool:
    """Return whether a line is near a place that an accepted repair changes."""
    return line is not None and any(first - NEAR <= line <= last + NEAR for first, last in right.places)


def _place(right: Right, given: Any, weights: Weights, source: str) -> Part:
    line, saw = _line(given)
    if not right.places:
        return Part("place", float(not line), saw, "no line: nothing is wrong")
    expected = f"the line to change, within {NEAR} lines"
    if near(right, line):
        return Part("place", 1.0, saw, expected, line)
    same = line is not None and section(source, line) in {section(source, first) for first, _ in right.places}
    return Part("place", weights.section if source and same else 0.0, saw, expected, line)


def _line(given: Any) -> tuple[int | None, str]:
    """Return a named line, and what is said of it."""
    line = parse_answers.number(given)
    return line, f"line {line}" if line else f"{given!r} is not a line" if given else "no line"


def _raised(right: Right, given: Any) -> Part:
    line, saw = _line(given)
    expected = "the last line of the program that the traceback lists"
    return Part("raised", float(line is not None and line == right.raised), saw, expected, line)


def section(source: str, line: int) -> str:
    """Return the heading of the `# %%` section that contains a line."""
    heads = [text for text in source_lines(source)[:line] if text.startswith("# %%")]
    return heads[-1] if heads else ""


def _step(right: Right, given: Any) -> Part:
    step = parse_answers.number(given)
    if right.step is None and not right.places:
        return Part("step", 1.0, "there is no step to name")
    if right.step is None:
        return Part("step", 1.0, "this fault has no single first step to name, so any answer counts")
    saw = f"step {step}" if step is not None else f"{given!r} is not a step" if given else "no step"
    good = right.step[0] <= (1 if given in (None, "") else step or 0) <= right.step[1]  # empty: from the first step on
    if step is not None and step + 1 == right.step[0]:
        good = True
        saw = f"step {step}, counted from 0; optimizer steps are counted from 1 here, so it is step {step + 1}"
    return Part("step", float(good), saw, "the first step at which it shows", step)


def _evidence(right: Right, given: Any, weights: Weights) -> Part:
    looked = seen_in(parse_answers.names(given))
    first, later = bool(looked) and looked[0] in right.evidence, any(name in right.evidence for name in looked)
    share = 1.0 if first else weights.later if later else weights.looked if looked else 0.0
    saw = ", ".join(looked) or NO_VIEW
    return Part("evidence", share, saw, "a view that shows it" + (", first" if weights.later < 1 else ""), share)


def seen_in(names: Sequence[str]) -> list[str]:
    """Return each name once, an instrument's as its view: a learner may have typed either."""
    return list(dict.fromkeys(view for name in names for view in (views_of([name]) or [name])))


def _test(right: Right, given: Any) -> Part:
    if not right.test.texts:
        return Part("test", 1.0, "no test is asked for after this cause")
    letter = parse_answers.letter(given, right.test.texts)
    saw = letter or (f"{str(given)[:40]!r} is not one of the letters" if given else "no test")
    good = bool(letter) and letter == right.test.letter
    return Part("test", float(good), saw, "the test that tells it from its look-alikes")
