"""`grade`: turns a repaired program's text into a result, by runs on several seeds."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bugzoo import device
from bugzoo.grading import bands, delayed_fault, drawing, groups, lines, own_model, speed
from bugzoo.grading.baseline import Baseline
from bugzoo.grading.exercises import load
from bugzoo.grading.judge import judge
from bugzoo.grading.model import FOR_A_PERSON, UNCHANGED, Check, Result
from bugzoo.grading.own_decisions import waiting
from bugzoo.grading.partial_credit import repaired
from bugzoo.grading.runs import Asked, ahead, on_another_seed, run_of, text_with
from bugzoo.grading.seeds_together import status_of, together, with_seed
from bugzoo.grading.stages import stage
from bugzoo.grading.submission import Submission
from bugzoo.grading.texts import same_program, tidy
from bugzoo.grading.tolerances import tolerances
from bugzoo.grading.unreadable import NoSeed, Unreadable, check_text, of_error
from bugzoo.running import Job, sandbox
from bugzoo.scenario import Scenario

SEEDS = (0, 1, 2)
SECONDS = 60.0
"""Time limit of one run of a submission, in seconds."""
HONEST = ("budget", "tools", "model size", "data", "report", "answers", "weights")
"""A submission that fails one of these checks earns nothing for a partial repair either."""
HALF = 0.6
"""Share of the points that all partial repairs of an assignment earn together while a fault is left."""
WAITS = "Every check passes, but a person looks first at {}. A program that computes the same at every step needs none."
"""Said of a program that decides something by a counter, a clock or the step: what it may wait for is not tried."""


def grade(
    source: str,
    scenario: Scenario,
    *,
    seeds: Sequence[int] = SEEDS,
    seconds: float = SECONDS,
    strict_isolation: bool = False,
    all_seeds: bool = False,
    attempted: bool = True,
    partly: float = HALF,
    draw: int | None = None,
) -> Result:
    """Grade `source` as a repair of `scenario`. The scenario's faults state what a repair may need.

    Each seed gets one run of at most `seconds`. The first failing seed ends grading unless `all_seeds`. With
    `attempted=False` the broken text is "not attempted" without a run. With `strict_isolation` nothing runs on a machine
    without a sandbox. Otherwise a self-check there runs in an ordinary worker. `partly`: the share of the points that all
    partial repairs of several faults earn together. `draw` repeats a grading: it says which steps are compared with the
    healthy program's (`each_step`). By default it is drawn now, and stands in the result.
    """
    draw = drawing.number(draw)
    started = time.perf_counter()
    try:
        check_text(source)
        text_with(source, seeds[0])  # a syntax error is told before anything is prepared
    except (Unreadable, NoSeed, RecursionError, MemoryError) as why:
        return of_error(why)
    source = device.on_cpu(source)  # also a program that was trained on a GPU is graded on the CPU
    if not attempted and same_program(source, tidy(scenario.source)):
        return Result("not attempted", message=UNCHANGED)
    ahead(scenario, seeds[0])
    try:
        isolated = sandbox.needed(strict_isolation)
        request = Asked(source, scenario, tuple(seeds), seconds, isolated, draw)
        report = _on_the_seeds(request, all_seeds)
        if len(seeds) > 1 and all(check.passed for check in report.checks):
            report.checks = on_another_seed(request, report.checks)
        if len(seeds) > 1 and all(check.passed for check in report.checks):
            report.checks += together(report.averages(scenario), seeds)
    except Exception as error:  # a submission's process can leave anything behind
        return of_error(error, time.perf_counter() - started)
    status = status_of(report.checks)
    message = lines.hidden(report.checks, scenario) if status == "wrong" else ""
    if status == "passed" and (decision := waiting(source, (scenario.healthy().source, scenario.source))):
        status, message = FOR_A_PERSON, WAITS.format(decision)
    elif status == FOR_A_PERSON:
        message = next(check.saw for check in report.checks if check.status == FOR_A_PERSON)
    share = 1.0 if status == "passed" else 0.0
    if status == "wrong" and report.honest:
        share = round(partly * len(report.parts) / max(len(scenario.specs), 1), 4)
    return Result(status, share, report.checks, message, seconds=time.perf_counter() - started, draw=draw)


@dataclass
class _Seen:
    """What the seeds have shown so far."""

    parts: frozenset[str]
    """Ids of the faults that are repaired on every seed."""
    checks: list[Check] = field(default_factory=list)
    each: list[tuple[Baseline, list[Check]]] = field(default_factory=list)
    """The healthy twin of each seed, and the checks of this seed alone."""
    honest: bool = True

    def averages(self, case: Scenario) -> list[Check]:
        """Return the checks of metric and loss as means over the seeds."""
        twins = [twin for twin, _ in self.each]
        return bands.on_average([judged for _, judged in self.each], twins, case.program, tolerances(case).room)


def _on_the_seeds(asked: Asked, all_seeds: bool) -> _Seen:
    """Run and judge a submission on one seed after the other. Raises any error of the machine or of its files."""
    case = asked.scenario
    wide = tolerances(case).room * (bands.WIDE if len(asked.seeds) > 1 else 1.0)
    report = _Seen(frozenset(fault.id for fault, _ in case.specs))
    for seed in asked.seeds:
        job, case, run = asked.run(seed)
        submission = Submission(run, case, wide)
        judged = judge(submission)
        if not report.each:
            _run_again(job, submission, judged)
        report.checks = with_seed(report.checks, judged, seed) if report.each else judged
        report.each.append((submission.twin, judged))
        report.parts &= repaired(case, run, judged) if len(case.specs) > 1 else frozenset()
        report.honest &= not any(check.name in HONEST and not check.passed for check in judged)
        if not all(check.passed for check in judged) and not all_seeds and not report.parts:
            break
    return report


def _run_again(job: Job, one: Submission, judged: list[Check]) -> None:
    """Add the checks that need more runs of the program to those of the first seed, as long as all have passed."""
    case = one.case
    if speed.about_time(case) and all(check.passed for check in judged):
        stage("measuring the time beside the healthy program")
        judged.append(speed.beside(job, case))
    if all(check.passed for check in judged):
        judged += own_model.checks(job, one.run, case, one.twin, run_of)
    if all(check.passed for check in judged):
        judged += delayed_fault.put_off(job, case, run_of)


def grade_exercise(
    name: str, source: str, diagnosis: dict[str, Any] | None = None, *, attempted: bool = False, **options: Any
) -> Result:
    """Grade a repair of an exercise; `points` are for the repair. Raises UserError for an unknown exercise.

    What passes depends on the exercise's kind. A trap passes if its behavior is unchanged and the diagnosis says that
    nothing is wrong, hence `diagnosis`.
    """
    exercise = load(name)
    result = exercise.kind.grade(exercise, source, diagnosis or {}, {"attempted": attempted, **options})
    return replace(result, points=round(result.share * exercise.points[0], 4), max_points=exercise.points[0])


def try_exercise(name: str, source: str, **options: Any) -> Result:
    """Run a repair before its diagnosis is complete: the status and the groups, no points. Raises UserError."""
    exercise = load(name)
    return groups.sealed(exercise.kind.tried(exercise, source, {"attempted": False, **options}))
