"""Does a program show what was asked for, on several seeds, and nothing beyond it?

It is run as a repair is, in the same sandbox, and judged by the same instruments: those that were asked for must give their
numbers, all others must stay quiet, data, budget and size must be what they were, and on data that it never saw it must do as
well as our own broken program does.
"""

import time
from dataclasses import replace

from bugzoo.errors import UserError
from bugzoo.faults.evidence import number
from bugzoo.grading import checks, grade, integrity, pair
from bugzoo.grading.allowances import allowances
from bugzoo.grading.baseline import reached, twin
from bugzoo.grading.breaking.model import Breaking
from bugzoo.grading.model import UNCHANGED, Check, Result
from bugzoo.grading.symptoms import symptom
from bugzoo.running import Run, sandbox
from bugzoo.running.reading import to_json
from bugzoo.scenario import Scenario, with_settings

HALF = 0.5
"""Share of the points for the readings that were asked for, beside others that were not."""


def handed_out(task: Breaking) -> str:
    """The healthy text, as the learner gets it."""
    return grade.tidy(task.broken.healthy().source)


def solution(task: Breaking) -> str:
    """The same with our own edit."""
    return grade.tidy(task.broken.source)


def judge(task: Breaking, source: str, strict: bool = False) -> Result:
    """Judge a program's text. The first seed that fails ends it.

    `strict`: where there is no sandbox nothing is run, and "cannot be graded" says why.
    """
    started, most = time.perf_counter(), task.points
    if grade.same_program(source, handed_out(task)):
        return Result("not attempted", message=UNCHANGED, max_points=most)
    try:
        found = _on_all_seeds(task, source, strict)
    except (UserError, SyntaxError) as error:
        found, why = [], grade.settings_problem(error)
    except (OSError, RuntimeError) as error:
        found, why = [], str(error)[:300]
    except Exception as error:  # a submission's process can leave anything behind; it earns nothing by that
        found, why = [], f"What its run left behind cannot be read ({type(error).__name__}: {error})"[:300]
    else:
        why = ""
    status = grade.status_of(found)
    share = 1.0 if status == "passed" else 0.0
    names = {f"asked: {claim.left}" for claim in task.asked}
    wanted = [one for one in found if one.name in names]
    honest = not any(one.name in grade.HONEST and not one.passed for one in found)
    if status == "wrong" and honest and len(wanted) == len(names) and all(one.passed for one in wanted):
        share, why = HALF, "What was asked for is there; what is marked NO is there as well, or is gone."
    result = Result(status, share, found, why, round(time.perf_counter() - started, 2), max_points=most)
    return replace(result, points=round(share * most, 4))


def _on_all_seeds(task: Breaking, source: str, strict: bool) -> list[Check]:
    """Raises UserError or SyntaxError where no seed can be set, OSError or RuntimeError where the machine fails."""
    isolated, found = sandbox.needed(strict), []
    for seed in task.seeds:
        case = Scenario(task.program, (task.fault,), seed=seed, device="cpu")
        text = with_settings(source, {"seed": seed}, "the program")
        job = grade.job_of(text, case, task.seconds, isolated, checks.spared(case, seed == task.seeds[0]))
        run = grade.run_of(job)
        run.readings = {**run.readings, **pair.measure(job, run, case)}
        judged = _judge(run, case, task)
        found = grade.worse(found, judged, seed) if found else judged
        if not all(check.passed for check in judged):
            break
    return found


def _judge(run: Run, case: Scenario, task: Breaking) -> list[Check]:
    asked = {claim.instrument for claim in task.asked}
    found = checks.vital(run, (*asked, *task.also, *checks.timed()))
    if found[0].status == "your code raised":
        return found
    if hidden := integrity.out_of_sight(run, case):
        return [hidden]
    may, ours = allowances(case), reached(case, grade.tidy(case.source))
    found += [*_asked(run, task), *_beside(run, task)]
    found += checks.recovery(run, case, ours, may.own_forward, may.same_forward, may.room * checks.WIDE)
    return [*found, *integrity.integrity(run, case, twin(case))]


def _beside(run: Run, task: Breaking) -> list[Check]:
    """What an instrument that is asked for sees beyond what it was asked for."""
    asked, known, found = {claim.instrument for claim in task.asked}, {task.about.id, *task.named}, []
    for one in checks.judged(run.readings)[0]:
        if one.instrument in asked and one.fired and {suspect.cause for suspect in one.suspects} - known:
            saw = (
                f"{one.instrument} sees more than that: {symptom(one.instrument, run.readings[one.instrument].numbers)}"
            )
            found.append(Check("beside it", "wrong", saw, "what was asked for, and nothing else"))
    return found


def _asked(run: Run, task: Breaking) -> list[Check]:
    result = {"outcome": run.outcome, "numbers": to_json(run.readings), "metrics": run.trace.metrics}
    found = []
    for claim in task.asked:
        value = number(result, claim.left)
        saw = f"{claim.left} is {value:.3g}" if value is not None else f"{claim.left} was not measured"
        found.append(checks.verdict(f"asked: {claim.left}", claim.holds(result), saw, str(claim), value))
    return found
