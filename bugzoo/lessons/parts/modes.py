"""Lesson 09: the trained digit reader as its evaluation finds it, and its answers in other modes, orders and batch sizes."""

import copy
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from bugzoo import device, lab
from bugzoo.plots import evaluation_spread
from bugzoo.scenario import Scenario

SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
"""Pictures in a batch."""


class Trained:
    """The weights after the last step, and the data. Each method works on a copy of the model or on the one it gets."""

    def __init__(self, scenario: Scenario, steps: int) -> None:
        """Run a program up to its last step, `steps`, and stop it before its evaluation."""
        self.program: dict[str, Any] = lab.variables(scenario, steps)
        self.model: nn.Module = copy.deepcopy(self.program["model"])
        self.normalize = self.program["normalise"]
        data = self.program["validation_loader"].dataset.tensors
        self.pictures, self.digits = (part.to(device.used()) for part in data)
        self.sorted = self.digits.argsort()
        """The order of the pictures by digit."""

    @property
    def training(self) -> Tensor:
        """The training pictures, without augmentation."""
        return self.program["images"][self.program["train"]].to(device.used())

    def first_batch(self) -> Tensor:
        """Return the first validation batch, as it enters the model."""
        return self.normalize(self.pictures[:32])

    def copy(self) -> nn.Module:
        """Return a copy of the trained model, in the mode in which the evaluation finds it."""
        return copy.deepcopy(self.model)

    def in_modes(self, dropout: bool, norm: bool) -> nn.Module:
        """Return a copy in eval mode, with dropout or BatchNorm in train mode."""
        model = self.copy().eval()
        for layer in model.modules():
            if isinstance(layer, nn.Dropout | nn.BatchNorm2d):
                layer.train(dropout if isinstance(layer, nn.Dropout) else norm)
        return model

    def answers(self, model: nn.Module, pictures: Tensor, rows: int = 32) -> Tensor:
        """Return logits from a model in its present mode, `rows` pictures at a time, under no_grad."""
        with torch.no_grad():
            return torch.cat([model(self.normalize(part)) for part in pictures.split(rows)])

    def accuracy(self, model: nn.Module, order: Any = slice(None), rows: int = 32) -> float:
        """Return the share of right validation pictures, taken in an order, `rows` at a time."""
        logits = self.answers(model, self.pictures[order], rows)
        return (logits.argmax(-1) == self.digits[order]).float().mean().item()

    def batches(self, pictures: Tensor, digits: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return (normalized pictures, digits) in batches of 32."""
        return [(self.normalize(x), y) for x, y in zip(pictures.split(32), digits.split(32), strict=True)]

    def by_size(self, order: Any) -> list[float]:
        """Return the accuracy for each of SIZES, with only BatchNorm in train mode."""
        return [self.accuracy(self.in_modes(dropout=False, norm=True), order, rows) for rows in SIZES]

    def four_ways(self) -> dict[str, list[float]]:
        """Return twenty accuracies for each pair of mode and graph, and print whether the logits keep a graph."""
        ways = {}
        for mode in ("eval mode", "train mode"):
            for grad in ("with no_grad()", "without no_grad()"):
                name, model = f"{mode}, {grad}", self.copy().train(mode == "train mode")
                with torch.set_grad_enabled(grad.startswith("without")):
                    parts = self.pictures.split(32)
                    logits = [torch.cat([model(self.normalize(part)) for part in parts]) for _ in range(20)]
                ways[name] = [(row.argmax(-1) == self.digits).float().mean().item() for row in logits]
                print(f"{name:29}  keeps a graph: {logits[0].grad_fn is not None}")
        return ways

    def after_a_pass(self) -> dict[str, float]:
        """Return what the model saw once in train mode -> its accuracy in eval mode after it."""
        black = torch.zeros_like(self.training)
        shows = {
            "nothing": [],
            "black pictures": black,
            "validation pictures": self.pictures,
            "training pictures": self.training,
        }
        accuracies = {}
        for name, pictures in shows.items():
            model = self.copy()
            if len(pictures):
                self.answers(model, pictures)
            accuracies[name] = self.accuracy(model.eval())
            print(f"{name:20} accuracy with eval() {accuracies[name]:.3f}")
        return accuracies

    def without_eval(self, dropout: float, pictures_in_a_batch: float) -> Figure:
        """Draw eight evaluations in train mode, with this dropout and this size of batches, beside those in eval mode."""
        model = self.copy()
        model.get_submodule("dropout").p = dropout  # type: ignore[assignment]
        measured = [self.accuracy(model, rows=int(pictures_in_a_batch)) for _ in range(8)]
        return evaluation_spread.picture({"train mode": measured, "eval mode": [self.accuracy(model.eval())] * 8})
