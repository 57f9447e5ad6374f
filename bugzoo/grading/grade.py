"""`grade`: turns a repaired program's text into a result, by runs on several seeds."""

import ast
import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from bugzoo import device
from bugzoo.diagnostics.causes import says
from bugzoo.errors import UserError
from bugzoo.grading import (
    checks,
    decoys,
    delayed_fault,
    drawing,
    each_step,
    groups,
    integrity,
    lines,
    moved_counters,
    own_model,
    reference,
    second_run,
    speed,
)
from bugzoo.grading.baseline import trusted, twin
from bugzoo.grading.docstring import with_docstring, without_facts
from bugzoo.grading.exercises import load
from bugzoo.grading.model import UNCHANGED, Check, Exercise, Result
from bugzoo.grading.partial_credit import repaired, shows
from bugzoo.grading.program import join, split
from bugzoo.grading.seeds_together import crashed, status_of, together, with_seed
from bugzoo.grading.tolerances import tolerances
from bugzoo.grading.unreadable import Unreadable, check_text, for_a_person, left, usable
from bugzoo.running import Job, Limits, Run, run_worker, sandbox, warm_up
from bugzoo.scenario import Scenario, with_settings
from bugzoo.syntax import parse

SEEDS = (0, 1, 2)
SECONDS = 60.0
"""Time limit of one run of a submission, in seconds."""
RESULT_MIB = 256
"""Most bytes that a submission may leave behind; our largest run leaves a hundredth of it."""
HONEST = ("budget", "tools", "model size", "data", "report", "answers", "weights")
"""A submission that fails one of these checks earns nothing for a partial repair either."""
HALF = 0.6
"""Share of the points that all partial repairs of an assignment earn together while a fault is left."""
IN_TWO = 1.0
"""The same of a *two* exercise: its learner is told to look for a second fault, and either repair is half of the work."""
NO_MEMORY = "The grader itself has not enough memory."
ONE_OF_TWO = "One of two faults is repaired."


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
    except Unreadable as why:
        return for_a_person(why)
    source = device.on_cpu(source)  # also a program that was trained on a GPU is graded on the CPU
    if not attempted and same_program(source, tidy(scenario.source)):
        return Result("not attempted", message=UNCHANGED)
    ahead(scenario, seeds[0])
    try:
        isolated = sandbox.needed(strict_isolation)
    except RuntimeError as error:
        return Result("cannot be graded", message=str(error)[:300], seconds=_since(started))
    found: list[Check] = []
    each: list[list[Check]] = []
    cases: list[Scenario] = []
    room = tolerances(scenario).room
    wide = room * (checks.WIDE if len(seeds) > 1 else 1.0)
    parts: frozenset[str] = frozenset(fault.id for fault, _ in scenario.specs)
    clean = True
    for seed in seeds:
        case = seeded(scenario, seed)
        try:
            text = with_settings(source, {"seed": seed}, "the program")
        except (UserError, SyntaxError) as error:
            return Result("cannot be graded", message=settings_problem(error), seconds=_since(started))
        try:
            job = job_of(text, case, seconds, isolated, checks.spared(case, seed == seeds[0]))
            if case.ranks == 1:
                job = replace(job, keep_steps=drawing.draw(draw, seed, twin(case).steps))
            run = run_of(job)
            run.readings = {**run.readings, **second_run.measure(job, run, case)}
            judged = _judge(run, case, wide)
            if seed == seeds[0] and speed.about_time(case) and all(check.passed for check in judged):
                judged.append(speed.beside(job, case))
            if seed == seeds[0] and all(check.passed for check in judged):
                judged += delayed_fault.put_off(job, case, run_of)
            if seed == seeds[0] and all(check.passed for check in judged):
                judged += own_model.checks(job, run, case, twin(case), run_of)
            if seed == seeds[0] and all(check.passed for check in judged):
                judged += moved_counters.checks(job, case, twin(case), draw, run_of)
        except (Unreadable, RecursionError) as error:
            return for_a_person(error, _since(started))
        except (OSError, RuntimeError, MemoryError) as error:
            return Result("cannot be graded", message=(str(error) or NO_MEMORY)[:300], seconds=_since(started))
        except Exception as error:  # a submission's process can leave anything behind; that earns nothing
            return for_a_person(left(error), _since(started))
        found = judged if seed == seeds[0] else with_seed(found, judged, seed)
        each.append(judged), cases.append(case)
        parts &= repaired(case, run, judged) if len(case.specs) > 1 else frozenset()
        clean &= not any(c.name in HONEST and not c.passed for c in judged)
        if not all(check.passed for check in judged) and not all_seeds and not parts:
            break
    if len(seeds) > 1 and all(check.passed for check in found):
        try:
            found = on_another_seed(source, scenario, seeds, seconds, isolated, draw, found)
        except (Unreadable, RecursionError) as error:
            return for_a_person(error, _since(started))
        except (OSError, RuntimeError, MemoryError) as error:
            return Result("cannot be graded", message=(str(error) or NO_MEMORY)[:300], seconds=_since(started))
        except Exception as error:
            return for_a_person(left(error), _since(started))
    if len(seeds) > 1 and all(check.passed for check in found):
        found += together(checks.on_average(each, [twin(case) for case in cases], scenario.program, room), seeds)
    status = status_of(found)
    share = 1.0 if status == "passed" else 0.0
    if share == 0.0 and clean and status == "wrong":
        share = round(partly * len(parts) / max(len(scenario.specs), 1), 4)
    message = lines.hidden(found, scenario) if status == "wrong" else ""
    return Result(status, share, found, message, seconds=_since(started), draw=draw)


def on_another_seed(
    source: str, scenario: Scenario, seeds: Sequence[int], seconds: float, isolated: bool, draw: int, found: list[Check]
) -> list[Check]:
    """Return the checks with those of a run on a drawn seed, of which two whole epochs are compared step by step.

    Its metric is not judged: the band is proved for the known seeds. Raises RuntimeError and Unreadable as `usable`.
    """
    seed = drawing.other_seed(draw, seeds)
    case, known = seeded(scenario, seed), twin(seeded(scenario, seeds[0]))
    if case.ranks > 1:
        return found
    with trusted:
        epoch = reference.epoch(case)
    job = job_of(with_settings(source, {"seed": seed}, "the program"), case, seconds, isolated)
    job = replace(job, after=None, after_args={}, predict=(), keep_steps=drawing.stretches(draw, known.steps, epoch))
    run = usable(run_worker(job))
    judged = checks.finished(run)
    if all(check.passed for check in judged):
        judged = each_step.checks(run, case, known)
    return with_seed(found, [check for check in judged if not check.passed], seed)


def seeded(scenario: Scenario, seed: int) -> Scenario:
    """Return the same scenario under another seed, on the processor."""
    return replace(scenario, seed=seed, device="cpu")


def ahead(scenario: Scenario, seed: int) -> None:
    """Import and compute what the first run's checks need, while the run's process imports torch."""
    with contextlib.suppress(Exception):  # reported when it is needed
        warm_up(clean=True)
        with trusted:
            reference.questions(seeded(scenario, seed))


def grade_exercise(
    name: str, source: str, diagnosis: dict[str, Any] | None = None, *, attempted: bool = False, **options: Any
) -> Result:
    """Grade a repair of an exercise; `points` are for the repair. Raises UserError for an unknown exercise.

    A trap passes if its behavior is unchanged and the diagnosis says that nothing is wrong, hence `diagnosis`. A *break*
    exercise is graded by its symptom, and has no diagnosis. A repair that also touches a decoy passes with less. A repair
    of one of two faults earns half of the points.
    """
    exercise = load(name)
    if exercise.breaks:
        from bugzoo.grading.breaking import grade_break

        return grade_break(exercise, source, attempted=attempted, **options)
    named = (diagnosis or {}).get("cause")
    if exercise.trap and not named:
        message = "The diagnosis is empty. First say what is wrong, if anything."
        return Result("not attempted", message=message, max_points=exercise.points[0])
    if exercise.trap and not says(named, exercise.about_fault[0].id):
        saw = f"Your diagnosis says “{named}”. The run does not show it."
        wanted = "The run should confirm the diagnosis."
        blamed = Check("verdict", "wrong", saw, wanted, group="unchanged")
        return Result("wrong", 0.0, [blamed], max_points=exercise.points[0])
    asked = attempted or exercise.trap  # a healthy program may stay as it is
    usual: dict[str, Any] = {"seeds": exercise.seeds, "seconds": exercise.seconds, "attempted": asked, "partly": IN_TWO}
    result = decoys.priced(source, exercise.scenario, lambda case: grade(source, case, **usual | options))
    if exercise.second and result.status == "wrong" and result.share:
        result = replace(result, message=ONE_OF_TWO)
    return replace(result, points=round(result.share * exercise.points[0], 4), max_points=exercise.points[0])


def try_exercise(name: str, source: str, **options: Any) -> Result:
    """Run a repair before its diagnosis is complete: the status and the groups, no points. Raises UserError.

    A change of a healthy program (a trap) is answered as one that does not find the fault.
    """
    exercise = load(name)
    seeds = exercise.seeds[:1] if exercise.trap else exercise.seeds
    usual: dict[str, Any] = {"seeds": seeds, "seconds": exercise.seconds, "attempted": False}
    result = decoys.priced(source, exercise.scenario, lambda case: grade(source, case, **usual | options))
    return groups.sealed(groups.of_a_trap(result) if exercise.trap else result)


def handed_out(exercise: Exercise) -> str:
    """Return the text that the learner gets: the broken one, or the healthy one if it has to be broken."""
    return healthy_text(exercise) if exercise.breaks else broken_text(exercise)


def broken_text(exercise: Exercise) -> str:
    """Return the text with the fault."""
    return told(exercise, exercise.scenario.source)


def healthy_text(exercise: Exercise) -> str:
    """Return the same text without the fault."""
    return told(exercise, exercise.scenario.healthy().source)


def told(exercise: Exercise, source: str) -> str:
    """Return a text of the exercise's program as its cells give it, with the docstring of the exercise."""
    text = tidy(source)
    return with_docstring(text, exercise.about) if exercise.about else text


def tidy(source: str) -> str:
    """Return a program's text as its cells give it: without facts, one empty line before each section."""
    return join(split(without_facts(source)))


def same_program(one: str, other: str) -> bool:
    """Return whether two texts hold the same code; docstring, comments and layout do not count."""
    try:
        return _shape(one) == _shape(other)
    except (SyntaxError, ValueError):
        return False


@lru_cache(maxsize=256)
def _shape(source: str) -> str:
    tree = parse(source)
    if ast.get_docstring(tree) is not None:
        del tree.body[0]
    return ast.dump(tree)


def job_of(text: str, case: Scenario, seconds: float, isolated: bool, spared: Sequence[str] = ()) -> Job:
    """Return the job of one run of a submission, of at most `seconds`; `spared`: instruments that are left out."""
    with trusted:
        inputs, _ = reference.questions(case)
        instead = reference.unseen(case) if isolated else {}
    return Job(
        text,
        file="program.py",
        limits=Limits(seconds=seconds, memory_mib=tolerances(case).memory_mib, processes=16, result_mib=RESULT_MIB),
        after="bugzoo.grading.inside:examine",
        after_args={"control": reference.control(inputs).tolist(), "dtype": str(inputs.dtype), "spared": list(spared)},
        isolated=isolated,
        instead=instead,
        ranks=case.ranks,
        export=("model",),
        predict=(inputs,),
        quiet=True,  # a script without a model is judged below
    )


def run_of(job: Job) -> Run:
    """Run a job. Raises RuntimeError if the machine is at fault, and Unreadable if the submission spoiled its results."""
    run = run_worker(job)
    usable(run)
    run.readings = checks.measured(run)
    return run


def _judge(run: Run, case: Scenario, wide: float) -> list[Check]:
    found = _vital(run, case)
    if crashed(found):
        return found
    if hidden := integrity.out_of_sight(run, case):
        return [hidden]
    other = twin(case)
    may = tolerances(case)
    found += [checks.compared(name, run) for name in second_run.judges(case)]
    found.append(checks.illness([fault for fault, _ in case.specs if shows(fault, run.readings)], run))
    found.append(checks.trained(run, case, other))
    found.append(checks.fall(run, other))
    found += checks.recovery(run, case, other, may.own_forward, may.same_forward, wide)
    found += each_step.checks(run, case, other, thorough=all(check.passed for check in found))
    found += integrity.integrity(run, case, other)
    if may.healthy:
        found.append(integrity.unchanged(run, case, other))
    return found


def _vital(run: Run, case: Scenario) -> list[Check]:
    # milliseconds also depend on the machine: a slow program is detected by its evidence, a share of its own steps, and
    # by the twin that runs beside it
    return checks.vital(run, tolerances(case).ignore + checks.timed())


def settings_problem(error: Exception) -> str:
    """Return why the seed could not be set, in sentences."""
    if isinstance(error, SyntaxError):
        line = (error.text or "").strip()
        if line.startswith(("%", "!")):
            return f"Line {error.lineno}, `{line[:60]}`, is a notebook command, not Python. Put it in its own cell."
        return f"The program is not valid Python: {error.msg} (line {error.lineno})."
    if "several lines" in str(error):
        return "The grader sets `seed` for each run and needs it on one line. Restore `seed = 0` in the Settings."
    return (
        "The grader runs the program with several seeds and finds no `seed` to set. Put the line `seed = 0` back into the "
        "Settings. You may rename everything else except `model` and `metrics`."
    )


def _since(started: float) -> float:
    return time.perf_counter() - started
