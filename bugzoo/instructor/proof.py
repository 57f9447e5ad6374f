"""The proof of an assignment: each fault can be seen, and the grader tells the repairs apart.

The program earns nothing as handed out, a part with one fault repaired, and everything with all repaired. Alternative
repairs from the fault's file earn everything too; fake repairs and attacks do not. All this is measured by runs through
the grader that will grade the class. `bugzoo check` tries the whole list.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading import grade as grading
from bugzoo.grading import salt
from bugzoo.grading.lines import title
from bugzoo.grading.model import Result
from bugzoo.grading.partial_credit import without
from bugzoo.grading.reasons import by_telling
from bugzoo.grading.repairs import pretences, repairs
from bugzoo.grading.texts import same_program, tidy
from bugzoo.grading.trials.attacks import attacks
from bugzoo.instructor import combinations, handout, visible
from bugzoo.instructor.model import GRADING_SEEDS, Assignment
from bugzoo.instructor.visible import Progress, Sight
from bugzoo.running import run_all

TRIED = {"repair": 1, "pretence": 4}
"""How many repairs and pretences of each fault are graded here; `bugzoo check` proves all that its file names.

The pretences are what classes hand in most often, so the proof says beforehand what each is told.
"""
ATTACKS = ("a report written by hand", "answers sharpened")


class Refused(UserError):
    """This combination cannot be an assignment; nothing was written."""


@dataclass
class Step:
    """One graded text. `fault` is the fault that was repaired, or seemed to be; empty for the whole program."""

    kind: str
    fault: str
    result: Result
    name: str = ""
    """Name of the repair, pretence or attack, as in its file."""

    def __str__(self) -> str:
        """Return what was handed in, in a few words."""
        named = {
            "full": "everything repaired",
            "broken": "as handed out",
            "half": f"only {self.fault} repaired",
            "repair": f"{self.fault} repaired by {self.name!r}, the rest as in the solution",
            "pretence": f"{self.name!r} instead of a repair of {self.fault}",
            "attack": f"{self.name!r} instead of a repair",
        }
        return named[self.kind]

    @property
    def share(self) -> float:
        return self.result.share

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "repaired": self.fault, "name": self.name} | self.result.to_json()


@dataclass
class Proof:
    """The measurements. `problems` is empty if the assignment may be handed out."""

    assignment: Assignment
    seeds: tuple[int, ...]
    sights: list[Sight]
    steps: list[Step] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    from_ledger: bool = False
    """Refused without a run: the ledger records which fault masks which."""
    seconds: float = 0.0
    run_seconds: float = 5.0
    """Seconds of the slowest run of a whole program, sandbox included; limits follow from it."""

    @property
    def ok(self) -> bool:
        return not self.problems and bool(self.steps)

    @property
    def limit(self) -> float:
        """Seconds of its own that one run of a submission may take: five times the time here, from 20 to 120."""
        return min(max(20.0, 5 * self.run_seconds), 120.0)

    def telling(self) -> dict[str, list[str]]:
        """Fault id -> instruments that fire for it in the combination and are quiet once it is repaired."""
        return {sight.fault: sight.instruments for sight in self.sights}

    def to_json(self) -> dict[str, Any]:
        most = self.assignment.points[0]
        return {
            "ok": self.ok,
            "problems": self.problems,
            "program": self.assignment.program,
            "faults": list(self.assignment.faults),
            "seeds": {"visible": list(self.seeds), "grading": list(GRADING_SEEDS)},
            "points": {
                "repair": most,
                "diagnosis": self.assignment.points[1],
                "half_repairs": {s.fault: round(s.share * most, 4) for s in self.steps if s.kind == "half"},
            },
            "visible": [asdict(sight) for sight in self.sights],
            "graded": [step.to_json() for step in self.steps],
            "seconds": round(self.seconds, 1),
            "made_with": {name: version(name) for name in ("bugzoo", "torch")},
        }

    def __str__(self) -> str:
        most = self.assignment.points[0]
        lines = ["Each fault shows while the others are there:"]
        for sight in self.sights:
            for sign in sight.signs:
                numbers = f"{_mean(sign.together)} with all faults, {_mean(sign.repaired)} with only this one repaired"
                lines.append(f"  {'no ' if sight.problem else 'yes'} {sight.fault}: `{sign.claim}`: {numbers}")
        lines += [f"      {sight.problem}" for sight in self.sights if sight.problem]
        if self.steps:
            lines.append("The grader tells the repairs apart:")
        for step in self.steps:
            lines.append(f"  {step.share * most:g} of {most:g} points: {step} ({step.result.status})")
            if step.kind in ("half", "pretence"):
                lines += [f"      {why}" for why in _told(step.result)[:1]]
        lines.append("Proved." if self.ok else "Not proved: " + "; ".join(self.problems or ["it was not graded"]))
        return "\n".join(lines)


def _mean(values: Sequence[float | str | None]) -> str:
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) < len(values):
        return ", ".join("nothing" if value is None else str(value) for value in values)
    return f"{sum(numbers) / len(numbers):.3g}"


def prove(assignment: Assignment, progress: Progress | None = None, fresh: bool = False) -> Proof:
    """Measure whether every fault shows, then grade what a class may hand in. The proof may fail: see `problems`.

    Raises UserError if title or story give the answer away.

    `progress(done, of)` counts the runs of the first part and the graded texts of the second.
    """
    started = time.perf_counter()
    handout.refuse_leaks(handout.build(assignment, "student", []), assignment)  # first, as it is quick
    if not fresh and (reasons := combinations.hides(assignment.program, assignment.faults)):
        return Proof(assignment, visible.seeds_of(assignment), [], problems=reasons, from_ledger=True)
    texts = _texts(assignment)
    runs = len(visible.seeds_of(assignment)) * len({frozenset(), *map(frozenset, _taken(assignment))})

    def first(done: int, of: int) -> None:
        if progress:
            progress(done, of + len(texts))

    sights = visible.look(assignment, first, fresh)
    proof = Proof(assignment, visible.seeds_of(assignment), sights)
    proof.problems = [sight.problem for sight in sights if sight.problem]
    if not proof.problems:
        graded = [0]

        def tell(*_: object) -> None:
            graded[0] += 1
            if progress:
                progress(runs + graded[0], runs + len(texts))

        proof.steps = run_all(partial(_graded, assignment), texts, workers=2, on_done=tell)
        proof.run_seconds = max(step.result.seconds for step in proof.steps if step.kind == "full") / len(GRADING_SEEDS)
        proof.problems = problems(proof.steps)
    proof.seconds = time.perf_counter() - started
    return proof


def _graded(assignment: Assignment, text: tuple[str, str, str, str]) -> Step:
    kind, fault, source, name = text
    with salt.used(assignment.salt):
        result = grading.grade(source, assignment.scenario, seeds=GRADING_SEEDS, seconds=120.0, draw=0)
    return Step(kind, fault, result, name)


def _taken(assignment: Assignment) -> list[tuple[str, ...]]:
    ids = assignment.ids
    return [(name,) for name in ids] + [tuple(other for other in ids if other != name) for name in ids]


def _texts(assignment: Assignment) -> list[tuple[str, str, str, str]]:
    """Return (kind, fault, program, name); the whole solution first, to notice soon if the grader rejects it."""
    ids = assignment.ids
    halves = ids if len(ids) > 1 else ()
    texts = [
        ("full", "", assignment.solution, ""),
        ("broken", "", assignment.source, ""),
        *(("half", name, tidy(assignment.half(name).source), "") for name in halves),
    ]
    for fault, params in assignment.scenario.specs:
        alone = tidy(without(assignment.scenario, tuple(name for name in ids if name != fault.id)).source)
        right = {k: v for k, v in repairs(alone, fault, params).items() if not same_program(v, assignment.solution)}
        right = {name: text for name, text in right.items() if name not in fault.by_counter}
        for kind, named in (("repair", right), ("pretence", pretences(alone, fault, params))):
            texts += [(kind, fault.id, text, name) for name, text in list(named.items())[: TRIED[kind]]]
    attempts = attacks(assignment.source)
    return texts + [("attack", "", attempts[name], name) for name in ATTACKS]


def problems(steps: Sequence[Step]) -> list[str]:
    """Return every way in which the grader fails to tell these repairs apart."""
    failures = []
    for step in steps:
        status, failed = step.result.status, _failed(step.result)
        if step.kind == "broken" and (step.share > 0 or status == "passed"):
            failures.append(f"the program as handed out already earns {step.share:.0%} of the points")
        if step.kind == "full" and not (status == "passed" and step.share == 1.0):
            failures.append(f"the fully repaired program is still {status} ({failed})")
        if step.kind == "repair" and not (status == "passed" and step.share == 1.0):
            failures.append(f"{step}: still {status} ({failed})")
        if step.kind in ("pretence", "attack") and (status == "passed" or (step.kind == "attack" and step.share)):
            failures.append(f"{step}: earns {step.share:.0%} of the points")
        half = f"with only {step.fault} repaired it"
        if step.kind == "half" and status == "passed":
            failures.append(f"{half} passes: the grader sees no harm in the remaining faults")
        elif step.kind == "half" and not 0 < step.share < 1:
            failures.append(f"{half} earns {step.share:.0%}, not a part of the points ({failed})")
    kinds = [step.kind for step in steps]
    if kinds.count("full") != 1 or kinds.count("broken") != 1:
        failures.append("not everything was graded")
    return failures


def _told(result: Result) -> list[str]:
    """Return what failed, as a student reads it, the most telling first."""
    return [f"{title(check.name)}: {check.saw}" for check in by_telling(result.checks) if not check.passed]


def _failed(result: Result) -> str:
    return " ".join(_told(result))[:400] or result.message or "no check failed"


def refuse(proof: Proof) -> None:
    """Raise Refused if the proof failed, with which fault masks which and what to try."""
    if proof.ok:
        return
    hidden = [sight for sight in proof.sights if sight.problem]
    why = "not every fault in it can be seen"
    if not hidden and not proof.from_ledger:
        why = "the grader does not tell its repairs apart"
    lines = "\n".join(f"  - {problem}" for problem in proof.problems)
    command = f"`bugzoo show {hidden[0].fault if hidden else proof.assignment.ids[0]}`"
    advice = f"Choose another fault or program, or make a fault easier to see with its parameters ({command})."
    raise Refused(f"This combination is refused: {why}.\n{lines}\n{advice} Nothing was written.")
