"""Repeat kept steps with a submission's own model and the healthy program's loop body, in a sandbox of its own.

Where a correct repair may build another model, its gradients are not the healthy model's. But they are those that the
healthy loss gives in this model. `repeat` runs in a second process, after the submission's text up to its training.
"""

import contextlib
import copy
from pathlib import Path
from typing import Any

import torch
from torch import nn

from bugzoo.grading.loop_body import CannotRepeat, LoopBody, candidates, difference
from bugzoo.running import Reading, preserved
from bugzoo.watching import npz
from bugzoo.watching.steps import Step, Tensors, read

FILE = "steps.npz"
"""Name of the file with the kept steps, in the working folder."""
NAME = "repeated"
"""Name under which the gradients are left: STEP/PARAMETER."""


class OwnStep(LoopBody):
    """The healthy program's loop body around another model."""

    def __init__(self, text: str, program: str, settings: Any, model: nn.Module) -> None:
        names: dict[str, Any] = {"__name__": "healthy"}
        with preserved():
            exec(compile(text.split("# %% Training")[0], f"{program}.py", "exec", dont_inherit=True), names)
        super().__init__(text, program, settings, names, model)
        self.learns: set[str] = set()

    def learning(self, step: Step) -> set[str]:
        """Return the parameters that the twin trains; of a model with other names, those that got a gradient at any step."""
        twin = super().learning(step)
        return twin if twin <= {*step.parameters} else self.learns or set(step.gradients)

    def mode(self, training: bool, evaluating: list[str]) -> None:
        """It trains in the modes that it had at the kept step."""
        self.model.train(training)
        for name in evaluating:
            self.model.get_submodule(name).eval()


def repeat(run: Any, text: str, program: str, settings: Any) -> dict[str, Reading]:
    """Leave the gradients of all steps in the run's namespace, and return `noise`: 1 where dropout moves the output, else 0.

    Without a step that can be repeated it returns nothing. `text` is the healthy program, `settings` what its optimizers
    do (`Baseline.settings`).
    """
    arrays: dict[str, Any] = {}
    run.namespace[NAME] = arrays
    body = OwnStep(text, program, settings, run.namespace["model"])
    noise, steps = [], read(npz.read(Path(FILE)))[0]
    body.learns = {name for step in steps for name in step.gradients}
    for step in steps:
        # what a forward pass may read of the training loop
        run.namespace.update(step=step.number - 1, epoch=0, losses=[0.0] * (step.number - 1))
        try:
            gradients = nearest(body, step)
            noise.append(float(noisy(body, step)))
        except Exception as why:  # the model may be anything
            run.trace.error.setdefault("own step", str(why)[:200])
            continue
        arrays |= {f"{step.number}/{name}": value for name, value in gradients.items()}
    return {"own": Reading({"noise": max(noise)})} if noise else {}


def nearest(own: OwnStep, step: Step) -> Tensors:
    """Return the gradient whose targets bring it nearest to the kept one. Raises CannotRepeat."""
    trials: list[tuple[float, Tensors]] = []
    for targets in candidates(own, step):
        with contextlib.suppress(CannotRepeat):
            gradients = own.mean(step, targets)
            trials.append((difference(step.gradients, gradients), gradients))
    if not trials:
        raise CannotRepeat("no tensor beside the batch can be its targets")
    return min(trials, key=lambda one: one[0])[1]


def noisy(own: LoopBody, step: Step) -> bool:
    """Return whether the model's output in training depends on the generator's state."""
    own.load(step)
    own.mode(step.calls[-1].training, step.calls[-1].evaluating)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        first, other = (output(own.model, step.calls[-1].inputs, seed) for seed in (0, 1))
    return not torch.equal(first, other)


def output(model: nn.Module, inputs: list[torch.Tensor], seed: int) -> torch.Tensor:
    """Return what a copy of the model gives with this seed, so that its running averages stay."""
    torch.manual_seed(seed)
    return copy.deepcopy(model)(*inputs)
