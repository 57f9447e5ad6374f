"""The runs of a submission: one on each seed, and one on a seed that was drawn after the hand-in."""

import contextlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace

from bugzoo.errors import UserError
from bugzoo.grading import baseline, drawing, each_step, reference, second_run, speed
from bugzoo.grading.isolation import isolate
from bugzoo.grading.model import Check
from bugzoo.grading.readings import measured, spared
from bugzoo.grading.reference import trusted
from bugzoo.grading.seeds_together import with_seed
from bugzoo.grading.stages import stage
from bugzoo.grading.tolerances import tolerances
from bugzoo.grading.unreadable import NoSeed, settings_problem, usable
from bugzoo.grading.vital import finished
from bugzoo.running import Job, Limits, Run, run_worker, warm_up
from bugzoo.scenario import Scenario, with_settings

RESULT_MIB = 256
"""Most bytes that a submission may leave behind; our largest run leaves a hundredth of it."""


@dataclass(frozen=True)
class Asked:
    """What is graded, and how: the same on every seed."""

    source: str
    scenario: Scenario
    seeds: tuple[int, ...]
    seconds: float
    """Time limit of one run."""
    isolated: bool
    draw: int

    def run(self, seed: int) -> tuple[Job, Scenario, Run]:
        """Run the submission on one seed; return its job, with the steps to keep, its case, and the run.

        Where the healthy twin's results are not known yet, the twin runs meanwhile. The draw needs its number of steps:
        the reference program's settings say it beforehand. Raises NoSeed, and the errors of `run_of`.
        """
        case = seeded(self.scenario, seed)
        text = text_with(self.source, seed)
        stage(f"training with seed {seed}")
        bare = job_of(text, case, self.seconds, self.isolated, spared(case, seed == self.seeds[0]))
        if case.ranks > 1:
            return bare, case, _whole_run(bare, case)

        def drawn(steps: int) -> Job:
            return replace(bare, keep_steps=drawing.draw(self.draw, seed, steps))

        with trusted:
            expected = reference.steps(case)
        # a program that is judged by its time gets the machine alone
        if expected is None or speed.about_time(case) or baseline.known(case):
            job = drawn(baseline.twin(case).steps)
            return job, case, _whole_run(job, case)
        with ThreadPoolExecutor(1) as beside:
            twin = beside.submit(copy_context().run, baseline.twin, case)
            job = drawn(expected)
            run = _whole_run(job, case)
            count = twin.result().steps
        if count != expected:
            job = drawn(count)
            run = _whole_run(job, case)
        return job, case, run


def text_with(source: str, seed: int) -> str:
    """Return a submission's text under another seed. Raises NoSeed where it cannot be set."""
    try:
        return with_settings(source, {"seed": seed}, "the program")
    except (UserError, SyntaxError) as error:
        raise NoSeed(settings_problem(error)) from None


def seeded(scenario: Scenario, seed: int) -> Scenario:
    """Return the same scenario under another seed, on the processor."""
    return replace(scenario, seed=seed, device="cpu")


def ahead(scenario: Scenario, seed: int) -> None:
    """Import and compute what the first run's checks need, while the run's process imports torch."""
    stage("preparing the data")
    with contextlib.suppress(Exception):  # reported when it is needed
        warm_up(clean=True)
        with trusted:
            reference.questions(seeded(scenario, seed))


def job_of(text: str, case: Scenario, seconds: float, isolated: bool, spared: Sequence[str] = ()) -> Job:
    """Return the job of one run of a submission, of at most `seconds`; `spared`: instruments that are left out."""
    with trusted:
        inputs, _ = reference.questions(case)
        instead = reference.unseen(case) if isolated else {}
    job = Job(
        text,
        file="program.py",
        limits=Limits(seconds=seconds, memory_mib=tolerances(case).memory_mib, processes=16, result_mib=RESULT_MIB),
        after="bugzoo.grading.inside:examine",
        after_args={"control": reference.control(inputs).tolist(), "dtype": str(inputs.dtype), "spared": list(spared)},
        ranks=case.ranks,
        export=("model",),
        predict=(inputs,),
        quiet=True,  # a script without a model is judged below
    )
    return isolate(job, instead) if isolated else job


def run_of(job: Job) -> Run:
    """Run a job. Raises RuntimeError if the machine is at fault, and Unreadable if the submission spoiled its results."""
    run = run_worker(job)
    usable(run)
    run.readings = measured(run)
    return run


def _whole_run(job: Job, case: Scenario) -> Run:
    """Run a job, and again where one run of this case is not enough (`second_run`). Raises as `run_of`."""
    run = run_of(job)
    run.readings = {**run.readings, **second_run.measure(job, run, case)}
    return run


def on_another_seed(asked: Asked, found: list[Check]) -> list[Check]:
    """Return the checks with those of a run on a drawn seed, of which two whole epochs are compared step by step.

    Its metric is not judged: the band is proved for the known seeds. Raises RuntimeError and Unreadable as `usable`.
    """
    seed = drawing.other_seed(asked.draw, asked.seeds)
    case, twin = seeded(asked.scenario, seed), baseline.twin(seeded(asked.scenario, asked.seeds[0]))
    if case.ranks > 1:
        return found
    stage(f"training with seed {seed}, which is drawn now")
    with trusted:
        epoch = reference.epoch(case)
    job = job_of(text_with(asked.source, seed), case, asked.seconds, asked.isolated)
    stretches = drawing.stretches(asked.draw, twin.steps, epoch)
    run = usable(run_worker(replace(job, after=None, after_args={}, predict=(), keep_steps=stretches)))
    judged = finished(run)
    if all(check.passed for check in judged):
        judged = each_step.checks(run, case, twin)
    return with_seed(found, [check for check in judged if not check.passed], seed)
