"""Recording the runs of a *five*, and the proof that its answer is right and its healthy runs are healthy.

    record(exercise)        trains the five, writes their recording and, in `proofs/recorded`, what was run
    problems(exercise)      trains them again: sentences on what does not hold

The four healthy runs raise no alarm in any instrument. The broken one shows its fault's evidence. The same views tell as in
the recording. Every wrong answer earns less than the right one, by as much as it should, and blind guessing earns little.
"""

from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

from bugzoo import diagnostics
from bugzoo.diagnostics.causes import words
from bugzoo.faults.evidence import parse
from bugzoo.files import write_atomic
from bugzoo.fingerprint import code_of
from bugzoo.grading import another
from bugzoo.grading.answers import causes
from bugzoo.grading.healthy import job
from bugzoo.grading.kinds.five import answers as fives
from bugzoo.grading.kinds.five import recordings
from bugzoo.grading.kinds.five.recordings import JUDGED, Recorded, recorded_views
from bugzoo.grading.model import Exercise
from bugzoo.proving import code, ledger
from bugzoo.running import Run, run_worker
from bugzoo.scenario import Scenario

BLIND = 0.25
"""Most that a guess without a look may earn on average."""
NEAR = 0.02
"""Share by which a loss may differ on another machine or another version of torch."""
Tell = Callable[[int, int], None]


def trained(exercise: Exercise, tell: Tell = lambda done, of: None) -> list[Run]:
    """Return the five runs, measured. Raises RuntimeError if one does not finish."""
    runs: list[Run] = []
    for scenario in fives.runs(exercise):
        tell(len(runs), fives.RUNS)
        run = run_worker(job(scenario.source, scenario.ranks, after="bugzoo.grading.kinds.five.recordings:measured"))
        if run.outcome != "finished":
            raise RuntimeError(f"{exercise.name}: a run ended as {run.outcome}; only finished runs can be recorded")
        runs.append(run)
    tell(len(runs), fives.RUNS)
    return runs


def record(exercise: Exercise, tell: Tell = lambda done, of: None) -> list[str]:
    """Train the five, write their recording and what was run, and return what does not hold of them."""
    runs, scenarios = trained(exercise, tell), fives.runs(exercise)
    text = recordings.written(runs)
    write_atomic(recordings.path(exercise.name), text, parents=True)
    fives.forget()
    entries = [_told(scenario, run) for scenario, run in zip(scenarios, runs, strict=True)]
    ledger.write("recorded", exercise.name, {"runs": entries, "texts": texts(exercise), "with": ledger.environment()})
    return of_runs(exercise, runs)


def texts(exercise: Exercise) -> str:
    """Return a hash of the five programs. A recording is of today's programs if its ledger entry has it."""
    return code.short(*(scenario.source for scenario in fives.runs(exercise)))


def _told(scenario: Scenario, run: Run) -> dict[str, Any]:
    return {
        "program": scenario.program, "faults": list(scenario.faults), "settings": dict(scenario.settings),
        "seed": scenario.seed, "fired": fired(run),
    }  # fmt: skip


def fired(run: Run) -> list[str]:
    """Return the instruments that raise an alarm on a run; those that judge durations are left out."""
    instruments = []
    for name in diagnostics.names():
        reading = run.readings.get(f"{JUDGED}{name}")
        if reading is None or not reading.applies or getattr(diagnostics.instrument(name), "TIMED", False):
            continue
        if diagnostics.instrument(name).judge(dict(reading.numbers)).fired:
            instruments.append(name)
    return instruments


def key_of(exercise: Exercise) -> str:
    """Return the key of all that the proof depends on: programs, recording, answers, and the code that measures."""
    place = recordings.path(exercise.name)
    recording = place.read_text(encoding="utf-8") if place.is_file() else ""
    room = "bugzoo.grading.kinds.five"
    by = code_of(f"{room}.recordings:measured", f"{room}.answers:grade", without=code.TEXTS)
    about = (texts(exercise), recording, fives.broken(exercise), exercise.points, exercise.about_fault[0].evidence)
    return code.keyed(about, (by, code.core()))


def prove(exercise: Exercise) -> dict[str, Any]:
    """Return {"problems": sentences, "outside": "view: label" of each number that tells} for one exercise or case."""
    if not recordings.path(exercise.name).is_file():
        return {"problems": [f"{exercise.name} has no recording; type `bugzoo exercises record`"], "outside": []}
    problems = [*stale(exercise), *of_runs(exercise, trained(exercise)), *of_answers(exercise)]
    outside = [f"{view}: {label}" for view, labels in fives.truth(exercise).telling.items() for label in labels]
    return {"problems": problems, "outside": outside}


def stale(exercise: Exercise) -> list[str]:
    """Return a sentence if the recording is of other programs than today's."""
    if ledger.read("recorded", exercise.name).get("texts") == texts(exercise):
        return []
    base = another.parted(exercise.name)[0]
    return [f"{exercise.name} was recorded from other programs; type `bugzoo exercises record {base}`"]


def of_runs(exercise: Exercise, made: list[Run]) -> list[str]:
    """Return what does not hold of the five runs: alarms, the fault's evidence, the readings that tell."""
    bad, problems = fives.broken(exercise), []
    for place, run in enumerate(made, 1):
        alarms = fired(run)
        if place != bad and alarms:
            problems.append(f"run {place} is healthy, and {', '.join(alarms)} raised an alarm")
        if place == bad:
            readings = {name: run.readings[f"{JUDGED}{name}"] for name in diagnostics.names()}
            numbers = {name: reading.numbers for name, reading in readings.items() if reading}
            result = {"outcome": run.outcome, "metrics": run.trace.metrics, "numbers": numbers}
            missing = [text for text in exercise.about_fault[0].evidence if not parse(text).holds(result)]
            problems += [f"run {place} is broken and does not show {text}" for text in missing]
    now, recorded = tuple(map(_seen, made)), recordings.recording(exercise.name)
    problems += [f"run {place} differs from its recording" for place in _apart(now, recorded)]
    if bad:
        measured, other = fives.telling(now, bad), fives.telling(recorded, bad)
        if measured != other:
            problems.append(f"the readings that tell are {sorted(measured)}, in the recording {sorted(other)}")
        if not measured:
            problems.append("no reading tells which run is broken")
    return problems


def _seen(run: Run) -> Recorded:
    return Recorded(tuple(run.trace.loss.tolist()), run.trace.metrics, run.readings)


def _apart(now: tuple[Recorded, ...], kept: tuple[Recorded, ...]) -> Iterator[int]:
    """Yield the numbers of the runs whose losses differ from the recorded ones."""
    for place, (first, other) in enumerate(zip(now, kept, strict=True), 1):
        same = len(first.losses) == len(other.losses)
        if not same or abs(fmean(first.losses) - fmean(other.losses)) > NEAR * abs(fmean(other.losses)):
            yield place


def of_answers(exercise: Exercise) -> list[str]:
    """Return sentences on wrong grades: of the right answer, of each wrong part, of further readings, of guessing."""
    right, full = fives.truth(exercise), fives.filled(exercise) | {"opened": _one_view_each(exercise)}
    expected = [("the right answer", full, 1.0)]
    expected += [(f"run {place}", full | {"run": place}, 0.0) for place in range(fives.RUNS + 1) if place != right.run]
    if right.run:
        others = [word for word in words() if word not in right.causes]
        expected += [(f"the cause {word!r}", full | {"cause": word}, 1 - fives.WORTH["cause"]) for word in others]
        dumb = [view for view in recorded_views() if view not in right.telling]
        less = 1 - fives.WORTH["reading"] - fives.price(fives.RUNS + 1)
        expected += [(f"the reading {view!r}", full | {"reading": view}, less) for view in dumb]
    else:
        expected += [("a view of four runs", full | {"opened": full["opened"][1:]}, 1 - fives.WORTH["reading"])]
    everything = [[view, place] for view in recorded_views() for place in range(1, fives.RUNS + 1)]
    expected += [("all readings opened", full | {"opened": everything}, 1 - fives.MOST)]
    sentences = []
    for what, answer, share in expected:
        earned = fives.grade(exercise, answer).share
        if abs(earned - share) > 1e-6:
            sentences.append(f"{what} earns {earned:.0%} instead of {share:.0%}")
    if (luck := blind(exercise)) > BLIND:
        sentences.append(f"a guess without a look earns {luck:.0%} on average, more than {BLIND:.0%}")
    return sentences


def _one_view_each(exercise: Exercise) -> list[list[Any]]:
    return [[fives.filled(exercise)["reading"], place] for place in range(1, fives.RUNS + 1)]


def blind(exercise: Exercise) -> float:
    """Return what a guess earns on average that is drawn evenly from everything that the form offers."""
    guesses = (
        {"run": place, "cause": cause, "reading": view}
        for place in range(fives.RUNS + 1)
        for cause in causes(exercise)
        for view in recorded_views()
    )
    return fmean(fives.grade(exercise, guess).share for guess in guesses)
