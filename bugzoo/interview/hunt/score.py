"""A hand-in -> points. Repaired bugs lead, and what is repaired is seen by running it.

repaired     60   equal shares; a bug counts as repaired when its signs are gone, the program does as well as it does with
                  just these repaired, and the bug would show beside what is left
nothing new  10   in the share that is repaired; nothing fails that does not fail in the frozen text with the same repaired
findings     20   equal shares for planted bugs that are said in the candidate's own words; a finding about something that
                  is right costs half a share
method       10   the interviewer's, by the anchors of the sheet; open until given
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bugzoo import record
from bugzoo.errors import UserError
from bugzoo.faults.evidence import parse
from bugzoo.grading.grade import HONEST, grade
from bugzoo.grading.model import Result
from bugzoo.interview.hunt import desk, proof
from bugzoo.interview.hunt.case import Case
from bugzoo.interview.hunt.sitting import of, told
from bugzoo.interview.hunt.words import findings

REPAIRED, NEW, FINDINGS, METHOD = 60.0, 10.0, 20.0, 10.0
HINT = 3.0
"""What a hint of the sheet costs."""
SECONDS = 120.0


@dataclass(frozen=True)
class Row:
    """One line of the score; `points` None where nobody has given them yet."""

    name: str
    points: float | None
    of: float
    why: str


@dataclass(frozen=True)
class Score:
    ticket: str
    candidate: str
    rows: tuple[Row, ...]
    repaired: tuple[str, ...]
    status: str
    checks: tuple[dict[str, Any], ...] = ()
    findings: tuple[dict[str, Any], ...] = ()
    seconds: float = 0.0
    events: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    @property
    def points(self) -> float:
        return round(max(0.0, sum(row.points or 0.0 for row in self.rows)), 1)

    @property
    def of(self) -> float:
        return sum(row.of for row in self.rows if row.points is not None)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"points": self.points, "of": self.of}


def judged(case: Case, source: str) -> tuple[Result, tuple[str, ...]]:
    """(what the grader says of a text, ids of the bugs that are surely repaired in it)."""
    result = grade(source, case.scenario, seeds=(case.recipe.seed,), seconds=SECONDS)
    seen = result.repaired or _passed_by(case, result)
    gone = tuple(proof.certain(case.scenario, seen)) if seen else ()
    if gone and (failed := _failed(result) & set(HONEST)) and failed - _left(case, gone):
        return result, ()  # what is trained on, with what, or what was answered is another
    return result, gone


def _passed_by(case: Case, result: Result) -> tuple[str, ...]:
    """The bugs that end a run, where it came to its end and is too ill otherwise to be judged: NaN in it, say."""
    if result.status != "wrong":
        return ()
    ends = [
        fault.id for fault, _ in case.scenario.specs if any(parse(text).left == "outcome" for text in fault.evidence)
    ]
    return tuple(ends)


def _failed(result: Result) -> set[str]:
    return {check.name for check in result.checks if not check.passed}


def _left(case: Case, gone: tuple[str, ...]) -> set[str]:
    """What fails in the frozen text with just these repaired: nobody who repaired them has to answer for it."""
    if len(gone) == len(case.recipe.ids):
        return set()
    if (key := (case.hash, gone)) not in _known:
        _known[key] = _failed(grade(case.without(*gone), case.scenario, seeds=(case.recipe.seed,), seconds=SECONDS))
    return _known[key]


_known: dict[tuple[str, tuple[str, ...]], set[str]] = {}


def score(case: Case, source: str, notes: str, *, method: float | None = None, hints: int = 0) -> Score:
    """The score of a text and its findings."""
    ids = case.recipe.ids
    result, gone = judged(case, source)
    share = len(gone) / len(ids)
    missing = [name for name in ids if name not in gone]
    rows = [
        Row("repaired", round(REPAIRED * share, 1), REPAIRED, f"{len(gone)} of {len(ids)}" + _still(missing, result)),
        _new(case, source, result, gone),
    ]
    found = findings(notes, case.recipe.program, {name: case.lines(name) for name in ids})
    right = sum(bool(one.means) for one in found)
    points = FINDINGS * max(0.0, right - 0.5 * (len(found) - right)) / len(ids)
    rows.append(
        Row(
            "findings",
            round(points, 1),
            FINDINGS,
            f"{right} of {len(ids)} said, {len(found) - right} about something else",
        )
    )
    rows.append(Row("method", method, METHOD, "the interviewer's" if method is None else "by the anchors of the sheet"))
    if hints:
        rows.append(Row("hints", -HINT * hints, 0.0, f"{hints} asked for"))
    checks = tuple({"name": c.name, "passed": c.passed, "saw": c.saw} for c in result.checks)
    return Score(
        case.ticket, "", tuple(rows), gone, result.status, checks, tuple(asdict(one) for one in found), result.seconds
    )


def _still(missing: list[str], result: Result) -> str:
    if not missing:
        return ""
    why = "" if result.status in ("wrong", "passed") else f"; the program: {result.status}"
    return f"; still there, or not to be told: {', '.join(missing)}{why}"


def _new(case: Case, source: str, result: Result, gone: tuple[str, ...]) -> Row:
    """Whether a repair broke something else: what fails here and not in the frozen text with the same bugs repaired."""
    name, share = "nothing new broken", len(gone) / len(case.recipe.ids)
    if not gone:
        return Row(name, 0.0, NEW, "nothing is repaired")
    if case.bar["identical"] and len(gone) == len(case.recipe.ids):
        return _identical(case, source, name)
    if not result.repaired and result.status == "wrong":
        return Row(name, 0.0, NEW, "it comes to its end, and is too ill for anything else to be told")
    failed = _failed(result) - _left(case, gone) if _failed(result) else set()
    if failed:
        return Row(name, 0.0, NEW, f"fails besides: {', '.join(sorted(failed))}")
    return Row(name, round(NEW * share, 1), NEW, "nothing fails but what is left")


def _identical(case: Case, source: str, name: str) -> Row:
    """In the variant that asks for the reference's outputs they are what tells whether anything else was changed."""
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        (Path(place) / desk.SCRIPT).write_text(source, encoding="utf-8")
        found = desk._held(case.bar, *desk._run(Path(place), SECONDS))
    return Row(name, NEW if found["passed"] else 0.0, NEW, found["saw"])


def hand_in(case: Case, folder: Path, **options: Any) -> Score:
    """The score of a candidate's folder: what was last saved there in time. Raises UserError for another case's folder."""
    of(case, folder)
    with told():
        about, happened = desk.state(folder), desk.events(folder)
        source, why = desk.text_at_end(folder)
        notes, _ = desk.text_at_end(folder, desk.FINDINGS)
    found = score(case, source or "", notes or "", **options)
    if not about.get("candidate"):
        _learnt(case, found, happened)
    rows = (*found.rows, Row("note", 0.0, 0.0, why)) if why else found.rows
    return Score(
        **{**vars(found), "rows": rows, "candidate": str(about.get("candidate", "")), "events": tuple(happened)}
    )


def _learnt(case: Case, found: Score, happened: list[dict[str, Any]]) -> None:
    """Who sat without a name practises on his own machine: each bug is an answer in the record, once a hunt."""
    key = f"{case.ticket} {next((one.get('wall', 0.0) for one in happened), 0.0):.0f}"
    try:
        if any(one["kind"] == "hunt" and one["key"] == key for one in record.events()):
            return
    except UserError:  # a record that cannot be read; scoring goes on without
        return
    said = {one["means"] for one in found.findings}
    for fault, _ in case.scenario.specs:
        what = {"cause": fault.id, "program": case.recipe.program, "right": fault.id in found.repaired}
        record.event("hunt", key, what | {"named": fault.id in said})
