"""The trusted side: the reference model from the grader's own text, the twin's numbers, and scores of weights."""

import contextlib
import copy
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from bugzoo import programs
from bugzoo.grading import evaluation
from bugzoo.grading.evaluation.tasks import Score
from bugzoo.grading.loop_body import constants
from bugzoo.scenario import Scenario

FIRST = "weights before training"
CONTROL = 100_000
"""Most numbers, except for 32 rows of any size."""
trusted = threading.RLock()
"""Only one thread at a time may use the reference model and torch's random generators.

Several submissions are graded at once, each in a thread. Without it one draws from the generators that another has just seeded.
"""


def space(source: str, program: str) -> dict[str, Any]:
    """Return the objects of a reference program up to its model, by executing everything before `# %% Training`.

    A program with several ranks is alone in its process group here, and `model` is the module that DDP wraps.
    """
    with trusted:
        return _space(source, program)


@lru_cache(maxsize=16)
def _space(source: str, program: str) -> dict[str, Any]:
    from bugzoo.running import preserved

    head = source.split("# %% Training")[0]
    names: dict[str, Any] = {"__name__": "reference"}
    several = int(programs.load(program).facts.get("ranks", 1)) > 1
    with preserved(), one_thread(), _alone() if several else contextlib.nullcontext():
        exec(compile(head, f"{program}.py", "exec", dont_inherit=True), names)
    names["model"] = getattr(names["model"], "module", names["model"]) if several else names["model"]
    names[FIRST] = {name: value.detach().clone() for name, value in names["model"].named_parameters()}
    return names


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Set up a process group of one, as torchrun would start it."""
    import torch.distributed as dist

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    variables = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1", "MASTER_PORT": port}
    variables |= {"MASTER_ADDR": "127.0.0.1", "GLOO_SOCKET_IFNAME": "lo" if sys.platform == "linux" else "lo0"}
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def healthy_text(scenario: Scenario) -> str:
    about = (scenario.program, scenario.faults, scenario.seed, scenario.device, scenario.size, scenario.decoy)
    return _healthy(json.dumps(dict(scenario.settings), sort_keys=True), *about)


@lru_cache(maxsize=256)
def _healthy(settings: str, program: str, faults: tuple[str, ...], *rest: Any) -> str:
    return Scenario(program, faults, json.loads(settings), *rest).healthy().source


def questions(scenario: Scenario) -> tuple[np.ndarray, np.ndarray]:
    """Return the grader's inputs and targets; the submission never gets the targets."""
    names = space(healthy_text(scenario), scenario.program)
    with trusted, one_thread():
        return evaluation.held_out(names, scenario.program, scenario.seed)


def unseen(scenario: Scenario) -> dict[str, str]:
    """Return which installed files the sandbox replaces for this case, besides those that it always replaces."""
    return evaluation.unseen(space(healthy_text(scenario), scenario.program))


def control(inputs: np.ndarray) -> np.ndarray:
    """Return the first of the grader's inputs, for the model with shuffled weights, as numbers for JSON."""
    return inputs[: max(32, CONTROL // inputs[0].size)]


def epoch(scenario: Scenario) -> int | None:
    """Return the optimizer steps in the reference program's first epoch; None if it has no loader."""
    loader = space(healthy_text(scenario), scenario.program).get("train_loader")
    return None if loader is None else len(loader) // scenario.ranks


def steps(scenario: Scenario) -> int | None:
    """Return how many optimizer steps the reference program should take, by its settings; None if they do not say."""
    names = space(healthy_text(scenario), scenario.program)
    length, first = names.get("steps"), epoch(scenario)
    if isinstance(length, int):
        return length
    return first * names["epochs"] if first and isinstance(names.get("epochs"), int) else None


def membership(scenario: Scenario) -> Any:
    return _members(healthy_text(scenario), scenario.program)


@lru_cache(maxsize=16)
def _members(source: str, program: str) -> Any:
    with trusted, one_thread():
        return evaluation.members(space(source, program), program)


def shapes(scenario: Scenario) -> dict[str, tuple[int, ...]]:
    model = space(healthy_text(scenario), scenario.program)["model"]
    return {name: tuple(value.shape) for name, value in model.state_dict().items()}


def never_moved(scenario: Scenario, weights: dict[str, np.ndarray]) -> int:
    """Count elements of parameters that are bitwise equal, as a whole, to the reference model's initial ones."""
    first = space(healthy_text(scenario), scenario.program)[FIRST]
    same = (value for name, value in first.items() if name in weights and np.array_equal(value.numpy(), weights[name]))
    return sum(value.numel() for value in same)


def fits(scenario: Scenario, weights: dict[str, np.ndarray]) -> bool:
    """Return whether these weights fit the reference model, by name and shape."""
    return {name: tuple(value.shape) for name, value in weights.items()} == shapes(scenario)


def answer(scenario: Scenario, weights: dict[str, np.ndarray], inputs: np.ndarray) -> np.ndarray:
    """Return the reference model's outputs with a submission's weights, in float32.

    They go into a copy: what one hand-in leaves, such as NaN, must not reach the next one.
    """
    with trusted, torch.no_grad(), torch.random.fork_rng(devices=[]), one_thread():
        model = copy.deepcopy(space(healthy_text(scenario), scenario.program)["model"])
        fixed = constants(model)
        state = {name: torch.as_tensor(np.array(value)) for name, value in weights.items() if name not in fixed}
        model.load_state_dict(model.state_dict() | state)
        model.eval()
        return torch.cat([model(part) for part in torch.as_tensor(inputs).split(256)]).float().numpy()


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread: for small models, threads that wait for each other cost more than they save."""
    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)


def own_validation(scenario: Scenario, weights: dict[str, np.ndarray]) -> Score:
    """Return the score of these weights on the submission's own validation data."""
    names = space(healthy_text(scenario), scenario.program)
    answers, targets = [], []
    with trusted:
        for inputs, labels in evaluation.validation(names, scenario.program, scenario.seed):
            answers.append(answer(scenario, weights, inputs.numpy()))
            targets.append(labels.numpy())
    return evaluation.task(scenario.program).measure(np.concatenate(answers), np.concatenate(targets))
