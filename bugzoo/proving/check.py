"""`bugzoo check`: proves every exercise by real submissions, those that must pass and those that must fail.

For each exercise, graded like a learner's submission:
- The unchanged program earns nothing and the solution passes. Every declared correct repair passes (at least three
  different programs). Every degenerate one fails (at least five), and so does every attack from `attacks`.
- Only a diagnosis with the right cause earns points, and that of the solution notebook earns all of them.
- Nothing that a learner sees names the fault: neither the notebook nor its output (`leaks`).
- The fault shows: in one of its views a number is outside its usual range (`shown`).
- Of two faults a repair of either one earns half of the points, and no more with a pretence for the other. Each
  combination of correct repairs passes.
- A crash ends with the same error, on the same line, on every seed (`shown`), and that line is not the one to change.
- A decoy is harmless (`decoys`): a repair that also takes it away passes with less, and without a repair nothing is won.
- All this, but the attacks and the search, also holds at both ends of what its further tickets draw (`another`).

For a trap, the unchanged program earns nothing without a verdict or with a wrong one. "Nothing is wrong" passes. A
correct repair changes no behavior, and no view shows a number outside its usual range. The attacks are built from the
fault's first pretence, which breaks the run.

For a *break* exercise, the healthy program earns nothing, and the fault's edit passes. So do at least four other edits.
Every lazy edit fails (`kinds/break_/lazy`), and so does every attack on the healthy program. There is no diagnosis. A *five* has
no submissions: `fives` proves its runs and answers.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

from bugzoo import kept
from bugzoo.fingerprint import code_of
from bugzoo.grading import another
from bugzoo.grading.answers import about
from bugzoo.grading.exercises import exercises, load
from bugzoo.grading.grade import grade_exercise
from bugzoo.grading.model import Exercise
from bugzoo.grading.trials import AT_MOST, DECOY, FIVE, HALF, LEAKS, TOUCHED, VIEWS, Trial, reliable, told, verdict
from bugzoo.proving import code, decoys, fives, leaks, ledger, shown
from bugzoo.proving.tried import conditions, judged_by
from bugzoo.running import run_all

Place = tuple[str, str, str]
"""(exercise, kind, name) of one trial."""
Result = dict[str, Any]
SEEN: dict[str, tuple[Callable[[Exercise], Result], Callable[[Exercise], str]]] = {
    LEAKS: (leaks.prove, leaks.key_of),
    VIEWS: (shown.prove, shown.key_of),
    DECOY: (
        lambda exercise: {"problems": decoys.problems(exercise.scenario), "outside": []},
        lambda exercise: decoys.key_of(exercise.scenario),
    ),
    FIVE: (fives.prove, fives.key_of),
}
"""A trial that is no submission -> what returns its {"problems", ...}, and what returns its key."""
ORDER = (*SEEN, "solution", TOUCHED, "correct", HALF, AT_MOST, "degenerate", "attack", "unsolved")
"""Slow kinds come first, so that no core is idle at the end."""


@dataclass
class Proof:
    """The results for one exercise. `trials`: {"kind", "name", "status", "share", "failed", "seconds", "problems"} each."""

    exercise: str
    trap: bool
    trials: list[Result] = field(default_factory=list)
    diagnoses: int = 0
    """Number of graded diagnoses."""
    letters: int = 0
    """Characters of notebook output that were searched for names; 0 if the ledger is trusted."""
    outside: list[str] = field(default_factory=list)
    """`view: label` of each number outside its usual range."""
    problems: list[str] = field(default_factory=list)

    @property
    def proved(self) -> bool:
        return not self.problems

    def count(self, kind: str) -> tuple[int, int]:
        """Return (as expected, all) for one kind of trial."""
        trials = [trial for trial in self.trials if trial["kind"] == kind]
        return sum(not trial["problems"] for trial in trials), len(trials)


@dataclass
class CheckReport:
    """The whole result. Of `runs` trials, `cached` were known or in the ledger, `older` of these by earlier code."""

    proofs: list[Proof]
    seconds: float
    runs: int
    cached: int
    older: int = 0

    @property
    def ok(self) -> bool:
        return all(proof.proved for proof in self.proofs)

    def to_json(self) -> dict[str, Any]:
        return {"ok": self.ok, **asdict(self)}


def check(
    names: Iterable[str] = (),
    progress: Callable[[int, int], None] | None = None,
    fresh: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    backlog: bool = True,
) -> CheckReport:
    """Prove exercises (all by default), `workers` submissions at a time, or on other machines through `executor`.

    Ledger entries are trusted and cached grades reused; the rest is graded and written to the ledger. Without `backlog`
    an entry counts while its texts and claims are current, whichever code graded it. `fresh` does everything again.
    Raises UserError for an unknown name; the report lists what is not proved.
    """
    started = time.perf_counter()
    chosen = list(dict.fromkeys(load(name).name for name in names)) or list(exercises())
    proofs = {name: Proof(name, load(name).trap) for name in chosen}
    work: dict[Place, Trial] = {}
    for name in chosen:
        exercise = load(name)
        proofs[name].problems += exercise.kind.thin(exercise, list(exercise.kind.trials(exercise)))
        proofs[name].diagnoses, problems = exercise.kind.diagnoses(exercise)
        proofs[name].problems += problems
        work |= work_of(name)
    keys = {place: key_of(trial) for place, trial in work.items()}
    older: dict[Place, str] = {}
    if not (backlog or fresh):
        stale = [place for place, key in keys.items() if _stands(place, key) and not _same(place, key)]
        older = {place: _entry(place)["key"] for place in stale}
        keys |= older
    results = {} if fresh else {place: cached for place in work if (cached := _known(place, keys[place]))}
    missing = [place for place in work if place not in results]
    missing.sort(key=lambda place: (_stands(place, keys[place]), ORDER.index(place[1])))
    cached = len(results)

    def keep(index: int, result: Result) -> None:
        place = missing[index]
        results[place] = result
        if reliable(work[place], result):
            kept.write(_cached(keys[place]), result)
        if progress:
            progress(len(results), len(work))

    if progress:
        progress(cached, len(work))
    try:
        run_all(prove_one, [work[place] for place in missing], executor=executor, workers=workers, on_done=keep)
    finally:  # on Ctrl-C too: the ledger gets what was proved so far, and keeps its old entries for the rest
        bad = {place for place in work if place in results and judge(proofs[place[0]], work[place], results[place])}
        for name in chosen:
            expected = {place: results.get(place) for place in work if place[0] == name and place not in bad}
            _write_down(name, expected, keys)
    return CheckReport(list(proofs.values()), time.perf_counter() - started, len(work), cached, len(older))


def work_of(name: str) -> dict[Place, Trial]:
    """Return everything that is proved for an exercise, under its place in the ledger."""
    exercise = load(name)
    trials = [*exercise.kind.trials(exercise), *exercise.kind.seen(exercise)]
    work = {(name, trial.kind, trial.name): trial for trial in trials}
    for end in another.ends(exercise):
        work |= {(name, trial.kind, f"{end.name} {trial.name}".rstrip()): trial for trial in end.kind.of_an_end(end)}
    return work


def prove_one(trial: Trial) -> Result:
    """Grade one submission, run an exercise's notebook to search for names, or open its views."""
    exercise = load(trial.exercise)
    if trial.kind in SEEN:
        return SEEN[trial.kind][0](exercise)
    return told(grade_exercise(trial.exercise, trial.source, trial.diagnosis, draw=0))


def key_of(trial: Trial) -> str:
    """Return the key of all that a trial's result depends on."""
    exercise = load(trial.exercise)
    scenario = exercise.scenario
    if trial.kind in SEEN:
        return SEEN[trial.kind][1](exercise)
    how = (exercise.seeds, exercise.seconds, about(exercise), *exercise.kind.claims(exercise))
    wording = code_of("bugzoo.diagnostics.causes:says") if exercise.trap else ""
    return code.keyed((trial.source, trial.diagnosis, conditions(scenario), how), (wording, *judged_by(scenario)))


def _cached(key: str) -> str:
    return kept.key("check", key, version("torch"))


def _stands(place: Place, key: str) -> bool:
    """Return whether other code proved the same; then it is repeated after the trials that the ledger lacks."""
    return code.about(_entry(place).get("key", "")) == code.about(key)


def _same(place: Place, key: str) -> bool:
    return _entry(place).get("key") == key


def _entry(place: Place) -> ledger.Entry:
    """Return what the ledger says of one trial; {} for nothing."""
    name, kind, title = place
    return ledger.read("exercises", name).get("trials", {}).get(kind, {}).get(title, {})


def _known(place: Place, key: str) -> Result | None:
    """Return the result from the ledger or the cache."""
    entry, kind = _entry(place), place[1]
    if entry.get("key") != key:
        return kept.read(_cached(key))
    if kind in SEEN:
        return {"problems": [], "letters": 0, "outside": entry.get("outside", [])}
    return {**{part: entry[part] for part in ("status", "share", "failed")}, "saw": entry["failed"], "seconds": 0.0}


def _write_down(name: str, found: dict[Place, Result | None], keys: dict[Place, str]) -> None:
    """Write one exercise's ledger entry with the expected results. The rest gets no entry and is tried again.

    A result of None means that nothing was run: an existing entry about the same is kept.
    """
    old = ledger.read("exercises", name).get("trials", {})
    entries: dict[str, dict[str, Result]] = {}
    for (_, kind, title), result in found.items():
        before, key = old.get(kind, {}).get(title, {}), keys[(name, kind, title)]
        if result is None:
            if code.about(before.get("key", "")) == code.about(key):
                entries.setdefault(kind, {})[title] = before
            continue
        outcome = {part: result[part] for part in ("status", "share", "failed", "outside") if part in result}
        entries.setdefault(kind, {})[title] = ledger.newer(before, {"key": key, **outcome})
    if entries != old:
        ledger.write("exercises", name, {"trials": entries, "with": ledger.environment()})


def judge(proof: Proof, trial: Trial, result: Result) -> list[str]:
    """Add one result to the proof; return sentences on what is not as expected."""
    if trial.kind == LEAKS:
        proof.letters, problems = result["letters"], result["problems"]
    elif trial.kind in (VIEWS, DECOY, FIVE):
        problems = result["problems"]
        if trial.kind in (VIEWS, FIVE) and trial.exercise == proof.exercise:
            proof.outside = result["outside"]
    else:
        problems = verdict(trial, result)
        proof.trials.append({"kind": trial.kind, "name": trial.name, **result, "problems": problems})
    if trial.exercise != proof.exercise:
        problems = [f"{trial.exercise}: {text}" for text in problems]
    proof.problems += problems
    return problems
