"""Lesson 02: other trainings on one batch of the review classifier, and which faults the test of one batch catches."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from torch import Tensor, nn, optim

from bugzoo import device, diagnostics
from bugzoo.plots import one_batch_lines
from bugzoo.proving import ledger
from bugzoo.scenario import Scenario

Batch = tuple[Tensor, Tensor]
Overfit = Callable[..., list[float]]
Variables = Mapping[str, Any]

KINDS = {
    "optimizer": ("optimizer/lr_too_low", "optimizer/some_parameters_left_out"),
    "loss": ("loss/double_softmax", "loss/labels_off_by_one"),
    "loop": ("loop/gradients_wiped", "loop/stale_gradients"),
    "data": ("data/label_noise", "data/leaky_split"),
    "metrics": ("metrics/metric_not_reset", "metrics/argmax_over_wrong_dim"),
}
"""Two faults of each of five kinds."""
STEPS = list(range(10, 201, 10))
"""The steps whose losses `overfit` returns."""


def loss_of(model: nn.Module, batch: Batch) -> Tensor:
    """Return the loss as the program has it."""
    return F.cross_entropy(model(batch[0]), batch[1])


def summed(model: nn.Module, batch: Batch) -> Tensor:
    """Return the loss summed over the batch."""
    return F.cross_entropy(model(batch[0]), batch[1], reduction="sum")


def drawn_anew(model: nn.Module, batch: Batch) -> Tensor:
    """Return a loss on labels that are drawn again in each step: nothing can be memorized."""
    return F.cross_entropy(model(batch[0]), torch.randint(2, batch[1].shape, device=batch[1].device))


def with_rate(run: Variables, factor: float) -> tuple[nn.Module, optim.Optimizer]:
    """Return copies of a program's model and optimizer, with another learning rate."""
    model, optimizer = copy.deepcopy((run["model"], run["optimizer"]))
    for group in optimizer.param_groups:
        group["lr"] *= factor
    return model, optimizer


def last_tensors(run: Variables, learning: int = 2) -> tuple[nn.Module, optim.Optimizer]:
    """Return a copy of the model of which only the last tensors learn, the head's two by default, and their optimizer."""
    model = copy.deepcopy(run["model"])
    parameters = list(model.parameters())
    for parameter in parameters[: len(parameters) - learning]:
        parameter.requires_grad = False
    return model, optim.Adam([parameter for parameter in parameters if parameter.requires_grad], lr=1e-2)


def first_reviews(run: Variables, items: int = 8) -> Batch:
    """Return the first reviews of a program's training data, and their labels."""
    inputs, labels = run["train_loader"].dataset.tensors
    return inputs[:items].to(device.used()), labels[:items].to(device.used())


def plain_sgd(overfit: Overfit, run: Variables, batch: Batch, rate: float, loss: Callable[..., Tensor]) -> float:
    """Return the last loss of the healthy model on one batch under SGD without momentum."""
    torch.manual_seed(0)
    return overfit(run["model"], optim.SGD(run["model"].parameters(), lr=rate), loss, batch)[-1]


def five_ways(overfit: Overfit, ill: Variables, well: Variables) -> dict[str, list[float]]:
    """Return the losses of five trainings on the same eight reviews."""
    batch = first_reviews(well)
    return {
        "healthy": overfit(well["model"], well["optimizer"], loss_of, batch),
        "incident: optimizer of another model": overfit(ill["model"], ill["optimizer"], loss_of, batch),
        "rate 1000 times too low": overfit(*with_rate(well, 1e-3), loss_of, batch),
        "only the head learns": overfit(*last_tensors(well), loss_of, batch),
        "labels drawn in each step": overfit(well["model"], well["optimizer"], drawn_anew, batch),
    }


def picture(ways: Mapping[str, list[float]]) -> Figure:
    """Draw trainings on one batch; above the shaded region's border the test has failed."""
    return one_batch_lines.picture({name: (STEPS, losses) for name, losses in ways.items()})


def caught() -> dict[str, int]:
    """Run two faults of each kind in the digit reader, and the test on the first batch of each; return how many it catches."""
    counts = {}
    for kind, faults in KINDS.items():
        counts[kind] = 0
        for fault in faults:
            run = Scenario("mlp", (fault,), settings={"epochs": 1}, device=device.used()).run()
            numbers = diagnostics.read("overfit_one_batch", run).numbers
            fired = diagnostics.instrument("overfit_one_batch").judge(numbers).fired
            counts[kind] += fired
            print(
                f"{'caught' if fired else 'passes':7} loss {numbers['first_loss']:.2f} to {numbers['best_loss']:.2f}  {fault}"
            )
    return counts


def of_all() -> tuple[int, int]:
    """Return (pairs of fault and program that the test catches, all proved pairs); zeros where no proofs are installed."""
    names = [name for name in ledger.names("faults") if not name.startswith("traps/")]
    cells = [
        cell for name in names for cell in ledger.read("faults", name).get("cells", {}).values() if not cell["problems"]
    ]
    return sum("overfit_one_batch" in cell["fired"] for cell in cells), len(cells)
