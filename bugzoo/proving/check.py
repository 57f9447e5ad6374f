"""`bugzoo check`: every exercise is proved by real submissions, those that must pass and those that must not.

For each exercise, all of it graded as a learner's hand-in is:
- handed in as it was handed out it earns nothing; the solution passes; every declared correct repair passes (at least
  three that are different programs), every degenerate one fails (at least five), and so does every attack of `attacks`;
- of the diagnoses only the right cause earns points, and the solution notebook's own one earns all of them;
- nothing that a learner sees names the fault: the notebook, and what it shows when it is executed (`leaks`).

Where nothing is wrong, as handed out it earns nothing without a verdict and nothing with a wrong one, "nothing is wrong"
passes, correct is what changes no behaviour, and the attacks are made from the first declared repair that spoils the run.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cache as once
from pathlib import Path
from typing import Any

from bugzoo import faults
from bugzoo.diagnostics.causes import right as right_causes
from bugzoo.diagnostics.causes import words
from bugzoo.grading.answers import grade_diagnosis, places
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.grade import grade_exercise, same_program, scenario_of
from bugzoo.grading.model import Exercise
from bugzoo.grading.twin import code, keep, kept
from bugzoo.proving.leaks import leaks, probe
from bugzoo.proving.trials import MUST_PASS, Trial, trials
from bugzoo.running.pool import run_all

UNGRADED = ("a syntax error", "no model")
"""Attacks that leave nothing to grade."""
LEAST = {"correct": 3, "degenerate": 5}


@dataclass
class Proof:
    """What was found for one exercise. `trials`: {"kind", "name", "status", "share", "failed", "seconds"} each."""

    exercise: str
    trap: bool
    trials: list[dict[str, Any]] = field(default_factory=list)
    diagnoses: int = 0
    """Diagnoses that were judged."""
    letters: int = 0
    """Letters of notebook output that were searched for names."""
    problems: list[str] = field(default_factory=list)

    @property
    def proved(self) -> bool:
        return not self.problems

    def count(self, kind: str) -> tuple[int, int]:
        """(as it must be, all) of one kind of trial."""
        mine = [trial for trial in self.trials if trial["kind"] == kind]
        return sum((trial["status"] == "passed") == (kind in MUST_PASS) for trial in mine), len(mine)


@dataclass
class Report:
    proofs: list[Proof]
    seconds: float
    runs: int
    cached: int

    @property
    def ok(self) -> bool:
        return all(proof.proved for proof in self.proofs)

    def to_json(self) -> dict[str, Any]:
        return {"ok": self.ok, **asdict(self)}


def check(
    names: Iterable[str] = (),
    progress: Callable[[int, int], None] | None = None,
    fresh: bool = False,
    workers: int = 2,
) -> Report:
    """Prove exercises (all by default), `workers` submissions at a time.

    Raises UserError for an unknown name; what is not proved is in the report. What was graded is kept by content, also
    when it is interrupted.
    """
    started = time.perf_counter()
    chosen = list(dict.fromkeys(load(name).name for name in names)) or list(exercises())
    proofs = {name: Proof(name, load(name).trap) for name in chosen}
    work: dict[tuple[str, str, str], Callable[[], dict[str, Any]]] = {}
    paths: dict[tuple[str, str, str], Path] = {}
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for name in chosen:
        exercise = load(name)
        mine = list(_trials(exercise, proofs[name]))
        wanted = [((name, t.kind, t.name), lambda t=t: _graded(t), _about(exercise, t)) for t in mine]
        wanted.append(((name, "leaks", ""), lambda n=name: leaks(n), (_whole_package(), probe(exercise))))
        for key, call, about in wanted:
            path, known = kept("check", key, about)
            work[key], paths[key] = call, path
            if known is not None and not fresh:
                found[key] = known
        proofs[name].problems += _declaration(exercise, mine)
        count, problems = diagnoses(exercise)
        proofs[name].diagnoses = count
        proofs[name].problems += problems
    known = len(found)
    if progress:
        progress(known, len(work))
    missing = [key for key in work if key not in found]

    def keep_it(index: int, result: dict[str, Any]) -> None:
        key = missing[index]
        found[key] = result
        if result.get("status") != "cannot be graded":  # a passing trouble of this machine is not worth keeping
            keep(paths[key], result)
        if progress:
            progress(len(found), len(work))

    run_all(lambda key: work[key](), missing, workers=workers, on_done=keep_it)
    for key in work:
        _judge(proofs[key[0]], key, found[key])
    return Report(list(proofs.values()), time.perf_counter() - started, len(work), known)


def _trials(exercise: Exercise, proof: Proof) -> Iterator[Trial]:
    try:
        yield from trials(exercise)
    except (ValueError, SyntaxError) as error:
        proof.problems.append(f"its declaration does not fit: {error}")


def _graded(trial: Trial) -> dict[str, Any]:
    result = grade_exercise(trial.exercise, trial.source, trial.diagnosis)
    failed = [f"{check.name}: {check.saw}" for check in result.checks if not check.passed]
    return {
        "status": result.status,
        "share": result.share,
        "failed": failed or [result.message],
        "seconds": round(result.seconds, 2),
    }


def _about(exercise: Exercise, trial: Trial) -> tuple[object, ...]:
    """Everything that a grade depends on."""
    scenario, fault = scenario_of(exercise), faults.load(exercise.fault.split("?")[0])
    how = (exercise.seeds, exercise.ignore, exercise.own_forward, exercise.same_forward, exercise.answers.cause)
    return trial.source, trial.diagnosis, scenario.source, scenario.healthy().source, fault.evidence, how


@once
def _whole_package() -> str:
    import bugzoo

    digest = hashlib.sha256(code().encode())
    for file in sorted(Path(bugzoo.__file__).parent.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _declaration(exercise: Exercise, mine: list[Trial]) -> list[str]:
    """Too few repairs, or two that are one program."""
    problems = []
    for kind, least in LEAST.items():
        texts = [t for t in mine if t.kind == kind]
        if len(texts) < least:
            problems.append(f"{len(texts)} {kind} repairs; at least {least} are needed")
    texts = [t for t in mine if t.kind in MUST_PASS] if not exercise.trap else []
    for place, one in enumerate(texts):
        twins = [other.name for other in texts[:place] if same_program(one.source, other.source)]
        problems += [f"the correct repairs {one.name!r} and {twin!r} are the same program" for twin in twins]
    return problems


def diagnoses(exercise: Exercise) -> tuple[int, list[str]]:
    """How many diagnoses were judged, and what was wrong about the answers: sentences."""
    right, problems = exercise.answers, []
    place = None if exercise.trap else places(exercise)[0][0]
    full = {"cause": right.cause, "place": place, "step": right.step and right.step[0], "test": right.test}
    result = grade_diagnosis(exercise.name, full | {"evidence": [right.evidence[0]]})
    if result.share != 1:
        problems.append(f"the right diagnosis earns {result.share:.0%}: {[str(c) for c in result.checks]}")
    [(fault, params)] = scenario_of(exercise).specs
    true = right_causes(fault.id, params)
    if right.cause not in true:
        problems.append(f"the cause {right.cause!r} is not what the table says of it: {' or '.join(true)}")
    others = [cause for cause in words() if cause not in true]
    for cause in others:
        earned = grade_diagnosis(exercise.name, full | {"cause": cause, "evidence": [right.evidence[0]]}).share
        if earned:
            problems.append(f"the diagnosis {cause!r} earns {earned:.0%}")
    return len(others) + 1, problems


def _judge(proof: Proof, key: tuple[str, str, str], result: dict[str, Any]) -> None:
    _, kind, name = key
    if kind == "leaks":
        proof.letters = result["letters"]
        proof.problems += result["problems"]
        return
    proof.trials.append({"kind": kind, "name": name, **result})
    passed, wanted = result["status"] == "passed", kind in MUST_PASS
    why = "; ".join(result["failed"][:3])
    if result["status"] == "cannot be graded" and name not in UNGRADED:
        proof.problems.append(f"{kind} {name!r} cannot be graded: {why}")
    elif wanted and not passed:
        proof.problems.append(f"{kind} {name!r} must pass and is {result['status']}: {why}")
    elif not wanted and (passed or result["share"]):
        proof.problems.append(f"{kind} {name!r} must fail and earns {result['share']:.0%}")


def to_text(report: Report) -> str:
    return json.dumps(report.to_json(), indent=2)
