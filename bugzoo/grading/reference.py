"""The trusted side: the reference model built from the grader's own text, its twin's numbers, and scores of weights."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from bugzoo.grading.evaluation import adapter
from bugzoo.scenario import Scenario

FIRST = "weights before training"


@lru_cache(maxsize=16)
def space(source: str, program: str) -> dict[str, Any]:
    """The objects of a reference program up to its model: everything before `# %% Training`, executed here."""
    from bugzoo.running.torch_state import preserved

    head = source.split("# %% Training")[0]
    names: dict[str, Any] = {"__name__": "reference"}
    with preserved():
        exec(compile(head, f"{program}.py", "exec", dont_inherit=True), names)
    names[FIRST] = {name: value.detach().clone() for name, value in names["model"].named_parameters()}
    return names


@dataclass(frozen=True)
class Score:
    """Accuracy and loss (nats) on the grader's data; `logits` as float32."""

    accuracy: float
    loss: float
    logits: np.ndarray


def healthy_text(scenario: Scenario) -> str:
    about = (scenario.program, scenario.faults, scenario.seed, scenario.device, scenario.size)
    return _healthy(json.dumps(dict(scenario.settings), sort_keys=True), *about)


@lru_cache(maxsize=256)
def _healthy(settings: str, program: str, faults: tuple[str, ...], *rest: Any) -> str:
    return Scenario(program, faults, json.loads(settings), *rest).healthy().source


def questions(scenario: Scenario) -> tuple[np.ndarray, np.ndarray]:
    """The grader's inputs and their targets, which stay here."""
    names = space(healthy_text(scenario), scenario.program)
    return adapter(scenario.program).held_out(names, scenario.seed)


def epoch(scenario: Scenario) -> int | None:
    """Optimiser steps of the reference program's first epoch; None where it has no loader."""
    loader = space(healthy_text(scenario), scenario.program).get("train_loader")
    return None if loader is None else len(loader)


def membership(scenario: Scenario) -> Any:
    return _members(healthy_text(scenario), scenario.program)


@lru_cache(maxsize=16)
def _members(source: str, program: str) -> Any:
    return adapter(program).members(space(source, program))


def shapes(scenario: Scenario) -> dict[str, tuple[int, ...]]:
    model = space(healthy_text(scenario), scenario.program)["model"]
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}


def measure(logits: Any, targets: np.ndarray) -> Score:
    """Accuracy and cross-entropy of (n, classes) or (n, time, classes) logits."""
    answers = torch.as_tensor(np.asarray(logits)).float()
    answers = answers.flatten(0, -2)
    right = torch.as_tensor(targets).reshape(-1)
    if len(answers) != len(right) or not torch.isfinite(answers).all():
        return Score(0.0, float("nan"), np.asarray(logits))
    loss = F.cross_entropy(answers, right).item()
    return Score((answers.argmax(-1) == right).float().mean().item(), loss, np.asarray(logits, dtype=np.float32))


def never_moved(scenario: Scenario, weights: dict[str, np.ndarray]) -> int:
    """Elements of the parameters that are, to the bit and as a whole, what the reference model begins with."""
    first = space(healthy_text(scenario), scenario.program)[FIRST]
    same = (value for name, value in first.items() if np.array_equal(value.numpy(), weights.get(name)))
    return sum(value.numel() for value in same)


def fits(scenario: Scenario, weights: dict[str, np.ndarray]) -> bool:
    """Are these weights the reference model's, by name and shape?"""
    return {name: tuple(value.shape) for name, value in weights.items()} == shapes(scenario)


def answer(scenario: Scenario, weights: dict[str, np.ndarray], inputs: np.ndarray) -> np.ndarray:
    """Logits of the reference model with somebody's weights, in single precision."""
    model = space(healthy_text(scenario), scenario.program)["model"]
    with torch.no_grad(), torch.random.fork_rng(devices=[]), _one_thread():
        model.load_state_dict({name: torch.as_tensor(np.array(value)) for name, value in weights.items()})
        model.eval()
        return torch.cat([model(part) for part in torch.as_tensor(inputs).split(256)]).float().numpy()


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Small models: threads that wait for one another beside two trainings cost more than they bring."""
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)


WINDOWS = 10
"""Batches of the validation text that a language model's accuracy is taken over, as in the programs themselves."""


def own_validation(scenario: Scenario, weights: dict[str, np.ndarray]) -> tuple[float, float] | None:
    """Accuracy on the submission's own validation data, and how far what it reports may lie from that; None without any.

    A text is looked at in windows, and who draws others finds another accuracy, a little.
    """
    names = space(healthy_text(scenario), scenario.program)
    if "validation_loader" in names:
        pairs, room = names["validation_loader"], 0.01
    elif "validation_codes" in names:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(scenario.seed + 1)
            pairs, room = [names["batch"](names["validation_codes"], 64) for _ in range(WINDOWS)], 0.02
    else:
        return None
    right = total = 0
    for inputs, targets in pairs:
        if "normalise" in names:
            inputs = names["normalise"](inputs)
        right += int((answer(scenario, weights, inputs.numpy()).argmax(-1) == targets.numpy()).sum())
        total += targets.numel()
    return right / total, room
