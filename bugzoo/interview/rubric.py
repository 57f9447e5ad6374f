"""Points for the cause, its line, the evidence, the repair and the time."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from bugzoo.grading import diagnosis as of
from bugzoo.grading.repairs import repairs
from bugzoo.interview.deck import Case
from bugzoo.interview.evidence import Evidence
from bugzoo.interview.requests import PRINTED

CAUSE, PLACE, EVIDENCE, TEST = (getattr(of.INTERVIEW, name) for name in ("cause", "place", "evidence", "test"))
REPAIR, TIME = 25, 5
EARLY, AGAINST = 5, 12
"""Points lost by a wrong guess: when no evidence seen contradicts it, and when some does."""

FREE = 12
"""Points of the evidence budget that do not lower the score."""


@dataclass(frozen=True)
class Row:
    """One line of the rubric."""

    name: str
    points: float
    of: int
    why: str


@dataclass
class Diagnosis:
    """One guess. `cause` is a catalogue id; `nothing` says that nothing is wrong."""

    cause: str
    line: int | None = None
    evidence: str = ""
    test: str = ""
    seconds: float = 0.0
    right: bool = False
    against: bool = False
    """Evidence that the candidate had already seen contradicts this cause."""


def right(case: Case, seen: Evidence | None = None) -> of.Right:
    """Return the right diagnosis of a case, with the views that show its fault; so does the output of a crash."""
    [(fault, params)] = case.scenario.specs
    broken = case.scenario.source
    accepted = [case.scenario.base, *repairs(broken, fault, params).values()]
    answer = of.right(fault, params, broken, accepted, case.tests)
    if seen is not None and seen.outcome != "finished":  # a crash or a hang shows in the script's output
        answer = replace(answer, evidence=(*answer.evidence, PRINTED))
    return answer


def lines(case: Case) -> list[tuple[int, int]]:
    """Return the line ranges in which the broken program differs from the healthy one."""
    return of.changed_lines(case.scenario.base, case.scenario.source)


def _place(case: Case, wanted: of.Right, given: Diagnosis | None) -> Row:
    if case.fault.trap:
        good = given is not None and given.right
        return Row("place", PLACE if good else 0, PLACE, "there is no place to find" if good else "nothing is wrong")
    where = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in lines(case))
    if given is None or given.line is None:
        return Row("place", 0, PLACE, f"no line was named; it is line {where}")
    part = _part("place", case, wanted, {"place": given.line})
    among = "" if part.share == 1 or not part.share else " is the right section"
    return Row("place", round(PLACE * part.share, 1), PLACE, f"line {given.line}{among}; the edit is at line {where}")


def _part(name: str, case: Case, wanted: of.Right, given: dict[str, Any]) -> of.Part:
    return next(p for p in of.judge(wanted, given, of.INTERVIEW, case.scenario.source) if p.name == name)


def _evidence(case: Case, wanted: of.Right, seen: Evidence, before: list[str], given: Diagnosis | None) -> Row:
    """Score the evidence. `before`: evidence seen before the first diagnosis; the named evidence counts first."""
    named = [given.evidence] if given and given.evidence in before else ["the named evidence"]
    part = _part("evidence", case, wanted, {"evidence": [*named, *before] if before else []})
    points = EVIDENCE * part.share
    good = [name for name in before if set(of.seen_in([name])) & set(wanted.evidence)]
    if given is None:
        points, why = 0.0, "no diagnosis was given"
    elif not before:
        why = "guessed without looking at anything"
    elif not good:
        why = f"looked at {', '.join(before)}, none of which shows it"
    else:
        why = f"{', '.join(good)} before the first guess"
        why += "" if part.share == 1 else "; the diagnosis names other evidence"
    over = max(0, seen.spent - FREE)
    if over and points:
        points = max(0.0, points - over / 4)
        why += f"; {seen.spent} points of evidence spent, {FREE} are free"
    return Row("evidence before guess", round(points, 1), EVIDENCE, why)


def _test(case: Case, wanted: of.Right, given: Diagnosis | None) -> Row | None:
    if not wanted.test.texts:
        return None
    answer = case.fault.look_alikes[0].test
    if given is None or not given.test:
        return Row("discriminating test", 0, TEST, f"no test was named; {answer}")
    part = _part("test", case, wanted, {"test": given.test})
    why = "tells the look-alikes apart" if part.share else f"the better test: {answer}"
    return Row("discriminating test", TEST * part.share, TEST, why)


def score(
    case: Case,
    evidence: Evidence,
    diagnoses: list[Diagnosis],
    before: list[str],
    repair: dict[str, Any] | None,
    seconds: float,
    limit: float,
) -> list[Row]:
    """Return the rubric's rows. `repair` is {"share": 0..1, "why": text}, or None if no file was handed in."""
    last = diagnoses[-1] if diagnoses else None
    solved = last is not None and last.right
    if last is None:
        why = "no diagnosis was given"
    else:
        why = case.fault.title if solved else f"it was: {case.fault.title}"
    answer = right(case, evidence)
    rows = [Row("cause", CAUSE if solved else 0, CAUSE, why), _place(case, answer, last)]
    rows.append(_evidence(case, answer, evidence, before, last))
    rows += filter(None, [_test(case, answer, last)])
    if repair is None:
        rows.append(Row("repair", 0, REPAIR, "no repaired file was handed in"))
    else:
        rows.append(Row("repair", round(REPAIR * repair["share"], 1), REPAIR, repair["why"]))
    in_time = max(0.0, min(1.0, (1 - seconds / limit) / 0.4)) if solved else 0.0
    rows.append(Row("time", round(TIME * in_time, 1), TIME, f"{seconds:.0f} s of {limit:.0f} s"))
    wrong = [guess for guess in diagnoses if not guess.right]
    for guess in wrong:
        cost = AGAINST if guess.against else EARLY
        text = "against evidence already seen" if guess.against else "not contradicted by the evidence seen"
        rows.append(Row("wrong guess", -cost, 0, f"{guess.cause}, {text}"))
    return rows


def total(rows: list[Row]) -> dict[str, Any]:
    """Return the rows and their sum, as a share of the points possible in this case; never below 0."""
    points = max(0.0, sum(row.points for row in rows))
    of = sum(row.of for row in rows)
    return {"rows": [asdict(row) for row in rows], "points": round(points, 1), "of": of, "score": round(points / of, 3)}
