"""One step of the reference program once more: its own loop body, run on weights, a batch and random numbers that are given."""

import ast
import copy
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from bugzoo.grading import evaluation, reference


class _Given(BaseException):
    """The optimiser has been given its gradients."""


def gradient(
    names: dict[str, Any], body: Any, state: dict[str, torch.Tensor], now: dict[str, np.ndarray], call: str
) -> dict[str, np.ndarray] | None:
    """What the reference loop's body hands to its optimiser; None where it cannot be run on what was kept."""
    model, optimizer = names["model"], names["optimizer"]
    inputs = torch.as_tensor(np.array(now[f"inputs{call}"]))
    inputs = inputs.to(next(model.parameters()).dtype) if inputs.is_floating_point() else inputs
    targets = torch.as_tensor(np.array(now["targets"]))
    names |= {"inputs": inputs, "targets": targets, "batch": lambda *_: (inputs, targets), "step": 0, "losses": []}

    def given(module: Any, args: Any) -> Any:
        torch.set_rng_state(torch.as_tensor(now[f"rng{call}"]))
        return (inputs,)

    def reached(*_: Any) -> None:
        raise _Given

    def answered(module: Any, args: Any, outputs: Any) -> None:
        if outputs.numel() == targets.numel() and outputs.shape != targets.shape:  # a column for a row
            names["targets"] = targets.reshape(outputs.shape)

    if "scaler" in names:  # one that is left in the middle of a step would not unscale in the next
        names["scaler"] = copy.deepcopy(names["scaler"])
    hooks = [
        model.register_forward_pre_hook(given), model.register_forward_hook(answered),
        optimizer.register_step_pre_hook(reached),
    ]  # fmt: skip
    try:
        with torch.random.fork_rng(devices=[]):
            model.load_state_dict(state)
            model.train()
            exec(body, names)
    except _Given:
        return {
            name: np.zeros(tuple(p.shape)) if p.grad is None else p.grad.detach().float().numpy().copy()
            for name, p in model.named_parameters()
        }
    except Exception:  # a batch of another shape or kind than the reference's: nothing can be said of this step
        return None
    finally:
        for hook in hooks:
            hook.remove()
        model.zero_grad()
    return None


@lru_cache(maxsize=16)
def targets_of(text: str, program: str) -> Any:
    """Inputs -> the targets that the program has for them, None where it has none."""
    return evaluation.targets_of(reference.space(text, program), program)


@lru_cache(maxsize=16)
def loop(text: str, program: str) -> tuple[dict[str, Any], Any]:
    """The reference program's names, of its own copy of the model, and one pass through its loop as code."""
    names = dict(reference.space.__wrapped__(text, program))
    tree = ast.parse(text)
    loop = next(_around_backward(tree))
    once = ast.parse("for __bugzoo in (None,):\n    pass")
    once.body[0].body = loop.body  # pyright: ignore[reportAttributeAccessIssue]
    return names, compile(ast.fix_missing_locations(once), f"{program}.py", "exec")


def _around_backward(tree: ast.AST) -> Iterator[ast.For]:
    """The innermost loops that call .backward(), the first one first."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and _calls(node) and not any(_calls(inner) for inner in _loops(node)):
            yield node


def _loops(loop: ast.For) -> Iterator[ast.For]:
    return (node for part in loop.body for node in ast.walk(part) if isinstance(node, ast.For))


def _calls(loop: ast.For) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr == "backward" for part in loop.body for node in ast.walk(part)
    )
