"""Repeat a kept training step with the healthy program, in the grader's process.

The update is that of the healthy twin's optimizer, with the settings that it has at this step, from the kept optimizer
state and the kept gradients.
"""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bugzoo.grading import reference
from bugzoo.grading.loop_body import BATCH, LoopBody, Settings, at, body, finite
from bugzoo.scenario import Scenario
from bugzoo.watching.steps import Step, Tensors


class HealthyStep(LoopBody):
    """A healthy program's text, or another right one, one step at a time."""

    def __init__(self, text: str, program: str, settings: Settings) -> None:
        super().__init__(text, program, settings, reference.space(text, program))


def batches(scenario: Scenario, count: int) -> list[tuple[Tensor, Tensor]] | None:
    """Return (inputs, targets) of some training batches, as the healthy model gets them; None if they depend on the step."""
    text = reference.healthy_text(scenario)
    names = dict(reference.space(text, scenario.program))
    fetching, _ = body(text, scenario.program)
    if "train_loader" not in names and "batch" not in names:
        return None
    pairs = []
    with reference.trusted, torch.random.fork_rng(devices=[]):
        torch.manual_seed(count)
        while len(pairs) < count:
            for inputs, targets in names.get("train_loader") or [(None, None)] * count:
                names |= {BATCH[0]: inputs, BATCH[1]: targets}
                exec(fetching, names)
                pairs.append((names[BATCH[0]], names[BATCH[1]]))
                if len(pairs) == count:
                    break
    return pairs


def samples(scenario: Scenario) -> int | None:
    """Return the number of samples of the training data; None for a program that cuts its batches from a text."""
    loader = reference.space(reference.healthy_text(scenario), scenario.program).get("train_loader")
    return None if loader is None else len(loader.dataset)


def updated(step: Step, settings: Settings) -> Tensors | None:
    """Return the parameters after the step, made from the kept gradients by the twin's optimizer.

    None where that needs a state, such as Adam's averages, and the script steps without an optimizer that has one.
    """
    result = {}
    for _, kind, groups, scale in at(settings, step.number):
        if scale != 1.0 and not finite(step.gradients):
            continue  # skipped by the scaler
        for names, numbers in groups:
            # a model of its own has layers with other names
            if len(groups) == 1 and not {*names} & {*step.parameters}:
                names = list(step.parameters)
            names = [name for name in names if name in step.parameters and name in step.gradients]
            if not names:
                continue
            parameters = {name: nn.Parameter(step.parameters[name].clone()) for name in names}
            made_by = getattr(torch.optim, kind)
            arguments = inspect.signature(made_by).parameters
            allowed = {k: tuple(v) if isinstance(v, list) else v for k, v in numbers.items() if k in arguments}
            optimizer = made_by(list(parameters.values()), **allowed)
            needed = _slots(made_by, allowed)
            for name, parameter in parameters.items():
                parameter.grad = step.gradients[name].clone()
                slots = {k.rpartition("/")[2]: v.clone() for k, v in step.slots.items() if k.rpartition("/")[0] == name}
                if slots and needed <= set(slots):  # those of another optimizer are none for this one
                    optimizer.state[parameter] = slots
            optimizer.step()
            if any(optimizer.state.values()) and step.number > 1 and not step.slots:
                return None
            result |= {name: parameter.detach() for name, parameter in parameters.items()}
    return result


def _slots(made_by: Callable[..., torch.optim.Optimizer], settings: dict[str, Any]) -> set[str]:
    """Return the names of the tensors that an optimizer keeps for a parameter."""
    parameter = nn.Parameter(torch.zeros(1))
    parameter.grad = torch.zeros(1)
    optimizer = made_by([parameter], **settings)
    optimizer.step()
    return {name for name, value in optimizer.state[parameter].items() if isinstance(value, Tensor)}
