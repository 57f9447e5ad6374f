"""Points: what was found, where, on what evidence, whether the repair works, and how long it took."""

from dataclasses import asdict, dataclass
from typing import Any

from bugzoo.injection import Injection
from bugzoo.interview.deck import Case
from bugzoo.interview.evidence import PRINTED, TWIN, Evidence
from bugzoo.syntax import source_lines

CAUSE, PLACE, EVIDENCE, TEST, REPAIR, TIME = 30, 15, 15, 10, 25, 5
EARLY, AGAINST = 5, 12
"""What a wrong guess costs: nothing seen speaks against it; something that was seen already does."""

NEAR = 3
"""Lines by which a place may be off and still be the place."""

FREE = 12
"""Points of the evidence budget that cost nothing in the score."""


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
    """Something that the candidate had seen already spoke against this cause."""


def changed_lines(injection: Injection) -> list[tuple[int, int]]:
    """Line ranges (from 1, inclusive) of the broken text that the edits touch; for a removal, its neighbours."""
    ranges, shift = [], 0
    broken = injection.broken
    for edit in injection.edits:
        start = edit.start + shift
        end = start + len(edit.text)
        first = broken.count("\n", 0, start) + 1
        ranges.append((first, broken.count("\n", 0, end) + 1) if edit.text else (max(1, first - 1), first))
        shift += len(edit.text) - (edit.end - edit.start)
    return ranges


def section(source: str, line: int) -> str:
    """The heading of the `# %%` section that holds a line."""
    heads = [text for text in source_lines(source)[:line] if text.startswith("# %%")]
    return heads[-1] if heads else ""


def _place(case: Case, given: Diagnosis | None) -> Row:
    if case.fault.trap:
        right = given is not None and given.right
        return Row("place", PLACE if right else 0, PLACE, "there is no place to find" if right else "nothing is wrong")
    ranges = changed_lines(case.scenario.injection)
    where = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)
    if given is None or given.line is None:
        return Row("place", 0, PLACE, f"no line was named; it is line {where}")
    if any(a - NEAR <= given.line <= b + NEAR for a, b in ranges):
        return Row("place", PLACE, PLACE, f"line {given.line}; the edit is at line {where}")
    source = case.scenario.source
    if section(source, given.line) in {section(source, a) for a, _ in ranges}:
        return Row("place", PLACE // 3, PLACE, f"line {given.line} is the right section; the edit is at line {where}")
    return Row("place", 0, PLACE, f"line {given.line}; the edit is at line {where}")


def _evidence(case: Case, seen: Evidence, before: list[str], given: Diagnosis | None) -> Row:
    """`before`: what had been looked at when the first diagnosis was given."""
    telling = seen.fired()
    names = {claim.split(".")[0] for claim in case.fault.evidence}
    good = [name for name in before if name in telling or name in names]
    # a crash or a hang is plain to see in what was printed
    if seen.outcome != "finished" and PRINTED in before:
        good.append(PRINTED)
    if case.fault.trap:
        good = [name for name in before if name not in (TWIN, PRINTED)]
    if given is None:
        points, why = 0.0, "no diagnosis was given"
    elif not before:
        points, why = 0.0, "guessed without looking at anything"
    elif not good:
        points, why = EVIDENCE / 3, f"looked at {', '.join(before)}, none of which shows it"
    else:
        named = given.evidence in good
        points = EVIDENCE if named else EVIDENCE * 2 / 3
        why = f"{', '.join(good)} before the first guess" + ("" if named else "; the diagnosis rests on something else")
    over = max(0, seen.spent - FREE)
    if over and points:
        points = max(0.0, points - over / 4)
        why += f"; {seen.spent} points of evidence spent, {FREE} are free"
    return Row("evidence before guess", round(points, 1), EVIDENCE, why)


def _test(case: Case, given: Diagnosis | None) -> Row | None:
    right = tuple(one.test for one in case.fault.look_alikes)
    if not right:
        return None
    answer = " / ".join(right)
    if given is None or not given.test:
        return Row("discriminating test", 0, TEST, f"none was named; {answer}")
    hit = given.test in right
    return Row(
        "discriminating test", TEST if hit else 0, TEST, "tells the look-alikes apart" if hit else f"rather: {answer}"
    )


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
    rows = [Row("cause", CAUSE if found else 0, CAUSE, why), _place(case, last)]
    rows.append(_evidence(case, evidence, before, last))
    rows += filter(None, [_test(case, last)])
    if repair is None:
        rows.append(Row("repair", 0, REPAIR, "no repaired file was handed in"))
    else:
        rows.append(Row("repair", round(REPAIR * repair["share"], 1), REPAIR, repair["why"]))
    in_time = max(0.0, min(1.0, (1 - seconds / limit) / 0.4)) if found else 0.0
    rows.append(Row("time", round(TIME * in_time, 1), TIME, f"{seconds:.0f} s of {limit:.0f} s"))
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
