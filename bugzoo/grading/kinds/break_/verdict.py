"""The verdict on an edit of a *break* exercise: does the program show the symptom, and nothing else?

Any edit that does it passes. The edited program is run on every seed of the exercise, as a repair is. Its symptom is
judged by claims about the instruments' numbers, and by the grader's own evaluation of the trained weights. No further
instrument may fire, and the parts that the task names must be those of the program handed out.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bugzoo import device
from bugzoo.diagnostics.numbers import of_instrument
from bugzoo.faults.evidence import Claim, number, parse
from bugzoo.grading import baseline, both_modes, checks, drawing, integrity, own_model, reference, runs
from bugzoo.grading.kinds.break_ import Break
from bugzoo.grading.model import FOR_A_PERSON, UNCHANGED, Check, Exercise, Result, state_of
from bugzoo.grading.readings import spared, timed
from bugzoo.grading.recovery import SAME
from bugzoo.grading.reference import trusted
from bugzoo.grading.repeated_steps import OTHERS
from bugzoo.grading.repeated_steps import SAME as SAME_STEP
from bugzoo.grading.seeds_together import crashed, status_of, with_seed
from bugzoo.grading.stages import stage
from bugzoo.grading.submission import Submission
from bugzoo.grading.symptoms import passes, symptom
from bugzoo.grading.texts import same_program
from bugzoo.grading.unchanged_parts import PARTS, changed
from bugzoo.grading.unreadable import Unreadable, check_text, for_a_person, of_error
from bugzoo.grading.vital import vital
from bugzoo.running import Job, Run, sandbox
from bugzoo.scenario import Scenario
from bugzoo.views import views_of
from bugzoo.watching.steps import read

OWN, MODES = "grader", "both_modes"
"""Groups of numbers that only grading knows: metric and loss of the weights in the grader's own copy of the evaluation,
and what the model does in train mode and in eval mode, with gradients and without."""
KEPT = ("budget", "tools", "model size")
"""Checks of a repair that an edit has to pass too. Its data and its report may change."""
LIMIT = {"<": "Below", "<=": "At most", ">": "Above", ">=": "At least"}
Numbers = Mapping[str, Any]


def grade_break(
    exercise: Exercise,
    asked: Break,
    source: str,
    *,
    attempted: bool = False,
    seeds: Sequence[int] | None = None,
    seconds: float | None = None,
    strict_isolation: bool = False,
    all_seeds: bool = False,
    draw: int | None = None,
) -> Result:
    """Grade `source` as an edit that produces the symptom that `asked` describes. The options are those of `grade`.

    An edit is judged by the numbers of whole runs. `draw` says which steps of the first one are repeated, where its claims
    are about both modes: the model that is measured after the training has to be the one that was trained.
    """
    started, most = time.perf_counter(), exercise.points[0]
    seeds = exercise.seeds if seeds is None else seeds

    def ended(status: str, found: Sequence[Check] = (), message: str = "") -> Result:
        share = float(status == "passed")
        spent = time.perf_counter() - started
        sentence = next((check.saw for check in found if check.status == status == FOR_A_PERSON), message)
        return Result(status, share, list(found), sentence[:300], spent, round(share * most, 4), most)

    try:
        check_text(source)
    except Unreadable as why:
        return ended("wrong", message=for_a_person(why).message)
    source = device.on_cpu(source)
    handed_out = exercise.handed_out
    if not attempted and same_program(source, handed_out):
        return ended("not attempted", message=UNCHANGED)
    runs.ahead(exercise.scenario, seeds[0])
    outcomes: list[Check] = []
    each: list[Numbers] = []
    for seed in seeds:
        case = runs.seeded(exercise.scenario, seed)
        try:
            text = runs.text_with(source, seed)
            stage(f"training with seed {seed}")
            left_out = [group for group in spared(case, seed == seeds[0]) if group not in asked.groups]
            isolated = sandbox.needed(strict_isolation)
            job = runs.job_of(text, case, exercise.seconds if seconds is None else seconds, isolated, left_out)
            job = replace(job, after_args={**job.after_args, "modes": True})
            keeps_steps = MODES in asked.groups and seed == seeds[0]
            if keeps_steps:
                job = replace(job, keep_steps=drawing.draw(drawing.number(draw), seed, baseline.twin(case).steps))
            run = runs.run_of(job)
            judged, numbers = _judge(Submission(run, case), asked)
            if keeps_steps and all(check.passed for check in judged):
                judged.append(in_training(job, run, case))
            if seed == seeds[0] and not crashed(judged):
                judged += unchanged(asked, source, handed_out)
        except Exception as error:  # a submission's process can leave anything behind; that earns nothing
            failure = of_error(error)
            return ended(failure.status, message=failure.message)
        outcomes = judged if seed == seeds[0] else with_seed(outcomes, judged, seed)
        each.append(numbers)
        if not all(check.passed for check in judged) and not all_seeds:
            break
    if all(check.passed for check in outcomes):
        outcomes += [replace(check, group="every_run") for check in averaged(asked, each, seeds)]
    return ended(status_of(outcomes), outcomes)


def _judge(one: Submission, asked: Break) -> tuple[list[Check], Numbers]:
    """Return the checks of one seed and the numbers that they judge."""
    signs = vital(one.run, (*asked.alarms, *timed()))
    if crashed(signs):
        return signs, {}
    if hidden := integrity.out_of_sight(one):
        return [hidden], {}
    numbers = measured(one)
    safeguards = [check for check in integrity.integrity(one) if check.name in KEPT]
    model = [_no_model()] if OWN in asked.groups and OWN not in numbers["numbers"] else []
    model.append(_gradients(numbers["numbers"][MODES].get("grad_gap")))
    first = [check for check in signs if check.group == "runs"]
    others = alarms([check for check in signs if check not in first], one.run)
    return [*first, *checks.trained(one), *claims(asked, numbers), *others, *model, *safeguards], numbers


def measured(one: Submission) -> dict[str, Any]:
    """Return a run's numbers as claims read them; without the grader's own where the weights fit no healthy model.

    These also need a model that answers the grader's inputs as its weights do in the healthy model.
    """
    numbers = {name: dict(reading.numbers) for name, reading in one.readings.items() if reading.applies}
    numbers[MODES] = dict(numbers.get("integrity", {}).get(MODES) or {})
    usual, answers = one.usual_answers, one.said
    if usual is not None and answers is not None and one.kind.difference(usual, answers) < SAME:
        with trusted:
            score = reference.own_validation(one.case, one.weights)
        numbers[OWN] = {one.kind.metric: score.value, "loss": score.loss}
    return {"metrics": dict(one.run.trace.metrics), "numbers": numbers, "outcome": one.run.outcome}


def _no_model() -> Check:
    saw = "The weights of `model` were put into the healthy model. They do not fit it, or the two give other outputs."
    expected = "In eval mode, `model` should compute the same from its weights as the healthy model."
    return Check("model", "wrong", saw, expected, group="unchanged")


def _gradients(gap: float | None) -> Check:
    """Check that the model computes the same with gradients and without: else it trains another one than it evaluates."""
    saw = both_modes.SAYS["grad_gap"]
    state = FOR_A_PERSON if gap is None else state_of(gap < both_modes.SAME)
    saw = f"{saw} {gap:.2g}." if gap is not None else f"{saw} was not measured."
    return Check(f"{MODES}.grad_gap", state, saw, f"Below {both_modes.SAME:g} passes.", gap, group="unchanged")


def in_training(job: Job, run: Run, case: Scenario) -> Check:
    """Check that the model after the training repeats the drawn steps with equal gradients: else a person looks."""
    twin, (steps, lost, _) = baseline.twin(case), read(run.arrays)
    gaps = own_model.gaps_of(steps, own_model.repeated(job, run, case, twin, runs.run_of))
    same, every = sum(gap <= SAME_STEP for gap in gaps.values()), len(steps) + len(lost)
    saw = (
        f"The model that the run leaves repeated {every} drawn steps. {same} of them have the gradient of the training."
    )
    expected = "The model should compute in the training what it computes afterwards, and its loss should stay."
    good = every and every - same <= OTHERS * every
    return Check("steps", "passed" if good else FOR_A_PERSON, saw, expected, float(same), group="unchanged")


def alarms(vital: Sequence[Check], run: Run) -> list[Check]:
    """Return the checks of `vital` about instruments. An alarm says in which view it shows."""
    signs = []
    for check in vital:
        if check.name == "instruments":
            saw = "The run was measured with all instruments. None raises an alarm that is foreign to the symptom."
            check = replace(check, saw=saw)
        elif check.name in run.readings and not check.passed:
            numbers = run.readings[check.name].numbers
            where = " and ".join(f"`{view}`" for view in views_of([check.name]))
            saw = f"Another alarm, in the view {where or 'of the run'}. {symptom(check.name, numbers)}"
            check = replace(check, saw=saw, expected=passes(check.name, numbers), group="unchanged")
        signs.append(check)
    return signs


def claims(asked: Break, numbers: Numbers) -> list[Check]:
    """Check the symptom on one seed. Without a model that fits, nothing is said of the grader's own numbers."""
    measurable = [claim for claim in map(parse, asked.must) if claim.instrument != OWN or OWN in numbers["numbers"]]
    return [_claimed(claim, numbers) for claim in measurable]


def averaged(asked: Break, each: Sequence[Numbers], seeds: Sequence[int]) -> list[Check]:
    """Check the claims about means over the seeds; they are numbers that every seed has."""
    outcomes = []
    for text in asked.on_average:
        claim = parse(text)
        values = [number(reading, claim.left) for reading in each]
        numbers = [value for value in values if value is not None]
        mean = float(np.mean(numbers)) if len(numbers) == len(values) else None
        sentence = f"The program was trained with {len(seeds)} seeds ({', '.join(map(str, seeds))})."
        outcomes.append(_check(claim, mean, f"{sentence} On average: {_said(claim, mean)}", "seeds"))
    return outcomes


def _claimed(claim: Claim, numbers: Numbers) -> Check:
    value = number(numbers, claim.left)
    check = _check(claim, value, _said(claim, value), claim.left)
    reported = number(numbers, claim.left.replace(OWN, "metrics", 1))
    if claim.instrument == OWN and not check.passed and _holds(claim, reported):
        sentence = f"The program reports {reported:.3g}: its evaluation was changed, and not what the model knows."
        return replace(check, name="evaluation", saw=f"{check.saw} {sentence}", group="unchanged")
    return check


def _check(claim: Claim, value: float | None, saw: str, name: str) -> Check:
    expected = f"{LIMIT[claim.op]} {float(claim.right):g} passes."
    group = "new_data" if claim.instrument in (OWN, "metrics") else "runs"
    group = "unchanged" if claim.left == f"{MODES}.later_weight" else group
    return Check(name, state_of(_holds(claim, value)), saw, expected, value, group=group)


def _holds(claim: Claim, value: float | None) -> bool:
    group, _, key = claim.left.partition(".")
    return value is not None and claim.holds({"numbers": {group: {key: value}}, "metrics": {key: value}})


def _said(claim: Claim, value: float | None) -> str:
    """Return what was measured, in a sentence."""
    group, _, key = claim.left.partition(".")
    if group == "metrics":
        what = f"The program reports its validation {key}"
    elif group == OWN:
        what = f"The grader evaluated the trained weights with its own copy of the evaluation: {key}"
    elif group == MODES:
        what = both_modes.SAYS[key]
    else:
        view = ", ".join(f"`{name}`" for name in views_of([claim.left]))
        what = f"View {view}, “{of_instrument(group)[key].label}”"
    return f"{what} {value:.3g}." if value is not None else f"{what} was not measured."


def unchanged(asked: Break, source: str, handed_out: str) -> list[Check]:
    """Check the parts that have to stay as they are."""
    outcomes = []
    for part in asked.stays:
        where = changed(part, source, handed_out)
        saw = f"The {PARTS[part].title} was compared with the program handed out. {where or 'It is the same.'}"
        expected = "It should stay as it was, with the settings that it uses. Names, comments, and layout may change."
        outcomes.append(Check(f"unchanged {part}", state_of(not where), saw, expected, group="unchanged"))
    return outcomes
