"""Points: what was found, where, on what evidence, whether the repair works, and how long it took."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from bugzoo.grading import diagnosis as of
from bugzoo.grading.repairs import repairs
from bugzoo.interview.deck import Case
from bugzoo.interview.evidence import BUDGET, PRINTED, Evidence
from bugzoo.sittings import HELP

CAUSE, PLACE, EVIDENCE, TEST = (getattr(of.INTERVIEW, name) for name in ("cause", "place", "evidence", "test"))
REPAIR, CONFIDENCE, TIME = 45, 4, 6
LISTED = 0.5
"""Share of `CAUSE` for a cause that was recognised in the list and not said in one's own words."""
EARLY, AGAINST = 6, 25
"""What a wrong guess costs: nothing seen speaks against it; something that was seen already does."""

FREE = 12
"""Points of the evidence budget that cost nothing in the score while one looks around."""
AROUND, NEEDLESS, OVER, OUTSIDE = 0.5, 0.75, 2.0, 1.0
"""What each point of the evidence budget costs in the score: of looking around beyond FREE; of what was asked although
something seen already showed the cause; beyond the budget; of other commands that were asked about the case."""
ENOUGH = 2
"""Pieces that show the cause cost nothing, up to so many: one to find it and one to be sure."""


@dataclass(frozen=True)
class Row:
    """One line of the rubric."""

    name: str
    points: float
    of: int
    why: str


@dataclass
class Diagnosis:
    """One guess. `cause` is a word of the table of causes, or an id of the catalogue; or says that nothing is wrong."""

    cause: str
    line: int | None = None
    evidence: str = ""
    test: str = ""
    seconds: float = 0.0
    right: bool = False
    against: bool = False
    """Something that the candidate had seen already spoke against this cause."""
    sure: int | None = None
    """How sure the candidate was of it, 0 to 100."""
    listed: bool = False
    """It was said after a look at the list of causes."""

    @property
    def brier(self) -> float | None:
        """The square of (how sure - 1 where it was right, 0 where not); 0 is best."""
        return None if self.sure is None else (self.sure / 100 - self.right) ** 2


def right(case: Case, seen: Evidence | None = None) -> of.Right:
    """The right diagnosis of a case. What was seen to fire shows it as well, and a crash stands in what was printed."""
    [(fault, params)] = case.scenario.specs
    broken = case.scenario.source
    accepted = [case.scenario.base, *repairs(broken, fault, params).values()]
    found = of.right(fault, params, broken, accepted, case.tests)
    more = [] if seen is None else seen.fired()
    if seen is not None and seen.outcome != "finished":  # a crash or a hang is plain to see in what was printed
        more.append(PRINTED)
    return replace(found, evidence=tuple(dict.fromkeys([*found.evidence, *more])))


def lines(case: Case) -> list[tuple[int, int]]:
    """Line ranges in which the broken program differs from the healthy one."""
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
    """`before`: what had been looked at when the first diagnosis was given. What the diagnosis rests on counts as first."""
    named = [given.evidence] if given and given.evidence in before else ["what it rests on"]
    part = _part("evidence", case, wanted, {"evidence": [*named, *before] if before else []})
    points = EVIDENCE * part.share
    good = [name for name in before if name in wanted.evidence]
    if given is None:
        points, why = 0.0, "no diagnosis was given"
    elif not before:
        why = "guessed without looking at anything"
    elif not good:
        why = f"looked at {', '.join(before)}, none of which shows it"
    else:
        why = f"{', '.join(good)} before the first guess"
        why += "" if part.share == 1 else "; the diagnosis rests on something else"
    return Row("evidence before guess", round(points, 1), EVIDENCE, why)


def _spending(case: Case, wanted: of.Right, seen: Evidence) -> Row:
    """The less a look was needed, the more it costs; nothing for what shows the cause, and for a little looking around."""
    prices = {request.name: request.price for request in seen.requests()}
    around = needless = telling = 0
    for name in seen.seen:
        shows = not case.fault.trap and name in wanted.evidence
        telling += shows
        if telling > ENOUGH or (telling and not shows):
            needless += prices[name]
        elif not shows:
            around += prices[name]
    outside = sum(HELP[kind] for kind in seen.outside)
    over = max(0, seen.spent - outside - BUDGET)
    told = [
        (AROUND * max(0, around - FREE), f"{around} points for looking around, {FREE} are free"),
        (NEEDLESS * needless, f"{needless} after the cause had been shown"),
        (OVER * over, f"{over} over the budget of {BUDGET}"),
        (OUTSIDE * outside, f"{outside} for {', '.join(seen.outside)} beside the interview"),
    ]
    cost = sum(points for points, _ in told)
    why = (
        "; ".join(text for points, text in told if points) or f"{seen.spent} points of evidence, none of them too many"
    )
    return Row("evidence spent", -round(cost, 1), 0, why)


def brier(diagnoses: list[Diagnosis]) -> float | None:
    """The mean over all guesses whose confidence was said; None where none was."""
    said = [one.brier for one in diagnoses if one.brier is not None]
    return round(sum(said) / len(said), 3) if said else None


def _confidence(diagnoses: list[Diagnosis]) -> Row:
    """Full points for being sure and right, none for 50, as many lost three times over for being sure and wrong."""
    score = brier(diagnoses)
    if score is None:
        return Row("confidence", 0, CONFIDENCE, "nothing was said about how sure")
    said = ", ".join(f"{one.sure}" for one in diagnoses if one.sure is not None)
    why = f"said {said}; Brier score {score:g} (0 is best, always saying 50 earns 0.25)"
    return Row("confidence", round(CONFIDENCE * (1 - 4 * score), 1), CONFIDENCE, why)


def _test(case: Case, wanted: of.Right, given: Diagnosis | None) -> Row | None:
    if not wanted.test.texts:
        return None
    answer = case.fault.look_alikes[0].test
    if given is None or not given.test:
        return Row("discriminating test", 0, TEST, f"none was named; {answer}")
    part = _part("test", case, wanted, {"test": given.test})
    why = "tells the look-alikes apart" if part.share else f"rather: {answer}"
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
    """The rubric's rows. `repair` is {"share": 0..1, "why": text} or None where no file was handed in."""
    last = diagnoses[-1] if diagnoses else None
    found = last is not None and last.right
    if last is None:
        why = "no diagnosis was given"
    else:
        why = case.fault.title if found else f"it was: {case.fault.title}"
    wanted = right(case, evidence)
    share = 0.0 if last is None or not found else LISTED if last.listed else 1.0
    why += "; recognised in the list" if found and share < 1 else ""
    if repair is None:
        rows = [Row("repair", 0, REPAIR, "no repaired file was handed in")]
    else:
        rows = [Row("repair", round(REPAIR * repair["share"], 1), REPAIR, repair["why"])]
    rows += [Row("cause", CAUSE * share, CAUSE, why), _place(case, wanted, last)]
    rows.append(_evidence(case, wanted, evidence, before, last))
    rows += filter(None, [_test(case, wanted, last)])
    rows.append(_confidence(diagnoses))
    in_time = max(0.0, min(1.0, (1 - seconds / limit) / 0.4)) if found else 0.0
    rows.append(Row("time", round(TIME * in_time, 1), TIME, f"{seconds:.0f} s of {limit:.0f} s"))
    rows.append(_spending(case, wanted, evidence))
    wrong = [guess for guess in diagnoses if not guess.right]
    for guess in wrong:
        cost = AGAINST if guess.against else EARLY
        text = "against evidence already seen" if guess.against else "before anything spoke against it"
        rows.append(Row("wrong guess", -cost, 0, f"{guess.cause}, {text}"))
    return rows


def total(rows: list[Row]) -> dict[str, Any]:
    """The rows and their sum, as a share of what could be had in this case; never below 0."""
    points = max(0.0, sum(row.points for row in rows))
    of = sum(row.of for row in rows)
    return {"rows": [asdict(row) for row in rows], "points": round(points, 1), "of": of, "score": round(points / of, 3)}
