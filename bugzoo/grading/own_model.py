"""Compare a submission's steps with the healthy loss in its own model, where a correct repair may build another model.

The healthy model cannot repeat such steps. So the submission's text up to its training runs once more, in a second sandbox, and
the healthy program's loop body makes the kept steps in the model that it builds (`own_step`). This shows another loss,
gradients that were changed after it, modes that change from step to step, and dropout that was taken out. Where nothing could
be repeated, a person looks.
"""

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from bugzoo.grading import own_step, reference
from bugzoo.grading.baseline import Baseline
from bugzoo.grading.healthy_step import HealthyStep
from bugzoo.grading.loop_body import difference, head
from bugzoo.grading.model import FOR_A_PERSON, Check, state_of
from bugzoo.grading.reference import trusted
from bugzoo.grading.repeated_steps import OTHERS, SAME
from bugzoo.grading.stages import stage
from bugzoo.grading.tolerances import tolerances
from bugzoo.running import Job, Run
from bugzoo.scenario import Scenario
from bugzoo.watching.steps import Step, read

ROOM_MIB = 192
"""Size of the folder in which the kept steps lie."""


def checks(job: Job, run: Run, case: Scenario, twin: Baseline, again: Callable[[Job], Run]) -> list[Check]:
    """Check the steps that a `run` of this `job` kept; nothing if the healthy model can repeat them.

    Raises RuntimeError if the machine fails.
    """
    if not tolerances(case).own_forward or case.ranks > 1:
        return []
    steps, lost, _ = read(run.arrays)
    modes = {(call.training, tuple(call.evaluating)) for step in steps for call in step.calls}
    if len(modes) > 1:
        saw = f"The modes of the model and its layers were noted at {len(steps)} drawn steps. They are not always the same."
        expected = "A training step runs in one mode."
        return [Check("modes at steps", "wrong", saw, expected, float(len(modes)), group="gone")]
    if not steps or (model := head(job.source)) is None:
        return [_unseen(0, len(steps) + len(lost))]
    repetition = repeated(replace(job, source=model), run, case, twin, again)
    gaps = gaps_of(steps, repetition)
    expected = len(steps) + len(lost)
    if expected - len(gaps) > OTHERS * expected:
        return [_unseen(len(gaps), expected)]
    return [_gradients(gaps), *_dropout(steps, repetition, case, twin)]


def repeated(job: Job, run: Run, case: Scenario, twin: Baseline, again: Callable[[Job], Run]) -> Run:
    """Run a `job` and make the steps that a `run` kept in the model that it leaves. Raises RuntimeError if the machine fails."""
    stage("repeating the drawn steps in your own model")
    file = io.BytesIO()
    np.savez(file, **{name: value for name, value in run.arrays.items() if name.partition(".")[0] == "steps"})
    about = {"text": reference.healthy_text(case), "program": case.program, "settings": list(twin.settings)}
    return again(
        replace(
            job, keep_steps=b"", export=(own_step.NAME,), predict=(),
            after="bugzoo.grading.own_step:repeat", after_args=about, files={own_step.FILE: file.getvalue()}, bring_mib=ROOM_MIB,
        )
    )  # fmt: skip


def _unseen(made: int, wanted: int) -> Check:
    saw = f"The submission's own model could repeat {made} of {wanted} drawn steps. A person looks at the rest."
    right = "The program should build `model` before it trains, and call it at each step with the whole batch."
    return Check("steps", FOR_A_PERSON, saw, right, float(made), group="gone")


def gaps_of(steps: list[Step], found: Run) -> dict[int, float]:
    """Return step -> relative difference of its gradient, of the steps that were repeated."""
    gaps = {}
    for step in steps:
        start = f"{own_step.NAME}.{step.number}/"
        arrays = {name: value for name, value in found.arrays.items() if name.startswith(start)}
        gradients = {name.removeprefix(start): torch.from_numpy(value) for name, value in arrays.items()}
        if gradients:
            gaps[step.number] = difference(step.gradients, gradients)
    return gaps


def _gradients(gaps: dict[int, float]) -> Check:
    wrong = {number: gap for number, gap in gaps.items() if gap > SAME}
    sentence = f"{len(gaps)} drawn steps were repeated in the submission's own model, with the healthy loss."
    expected = f"At most {SAME:.0%} passes, as sums in another order differ by less."
    if not wrong:
        saw = f"{sentence} The gradients are equal."
        return Check("gradient", "passed", saw, expected, max(gaps.values()), group="gone")
    worst = max(wrong, key=lambda at: wrong[at])
    saw = f"{sentence} At {len(wrong)} of them the gradient is another one. "
    saw += f"At step {worst} the gradient differs by {wrong[worst]:.0%}."
    return Check("gradient", "wrong", saw, expected, wrong[worst], group="gone")


def _dropout(steps: list[Step], found: Run, case: Scenario, twin: Baseline) -> list[Check]:
    noise = found.readings["own"].numbers.get("noise") if "own" in found.readings else None
    if noise is None:
        return []
    with trusted:
        healthy = HealthyStep(reference.healthy_text(case), case.program, twin.settings)
        healthy.model.train()
        inputs = steps[-1].calls[-1].inputs
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            usual = not torch.equal(*(own_step.output(healthy.model, inputs, seed) for seed in (0, 1)))
    if not usual:
        return []
    saw = "The model was called in train mode with other random numbers. "
    outcome = "changes: dropout drops other values." if noise else "stays the same: nothing is dropped."
    saw += f"Its output {outcome}"
    expected = "Dropout should stay in the model."
    return [Check("dropout", state_of(bool(noise)), saw, expected, float(noise), group="unchanged")]
