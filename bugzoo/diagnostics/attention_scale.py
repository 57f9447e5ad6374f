"""Are attention scores divided by sqrt(head width) before the softmax?

The dot product of a query and a key of width d has a spread that grows with sqrt(d). Unscaled, the softmax soon puts all weight
on one position, and its gradient nearly vanishes. Wider heads get there sooner. `factor` is what the scores are multiplied by
between the product and the softmax, times earlier factors on query and key. 1/sqrt(`width`) is usual. A fused attention kernel
scales by itself and is not checked. Measured in one forward pass.
"""

import math
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics._attention import _PRODUCTS, _SAME
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._lines import user_line
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import batches, model_of, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "factor": ("factor on the attention scores before the softmax", "1/sqrt(d)"),
    "width": ("width d of a query", ""),
    "spread": ("spread of the scores before the softmax", ""),
}
KNOWN_PROBLEMS = (
    "A false positive for attention that scales its initial weights instead of its scores, as T5 does, once training "
    "spreads the scores widely. "
    "It misses fused attention kernels, heads narrower than 8, scores whose standard deviation is at most 1.5, and a "
    "factor of 2 or more."
)
_NET = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.keys, self.last = nn.Linear(1, 16), nn.Linear(16, 16), nn.Linear(16, 3)

    def forward(self, x):
        x = self.first(x.unsqueeze(-1))
        return self.last((((x @ self.keys(x).mT){}).softmax(-1) @ x).mean(1))


model = Net()
"""
_FROM = "model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))\n"
HEALTHY = example((_FROM, _NET.format(" / 4")))
SICK = example((_FROM, _NET.format("")))
LEAST = 8
WIDE = 1.5
"""Scores that spread less need no scaling: cosine similarities, and models with smaller initial weights instead."""
_PASSED = (*_SAME, "masked_fill", "add", "sub", "where")


class _Scores(TorchDispatchMode):
    """Follows products of two computed tensors through scalings and masks into a softmax."""

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        super().__init__()
        self._own = {self._key(one) for one in parameters}
        self._factors: dict[Any, tuple[torch.Tensor, float]] = {}  # storage -> (kept alive, multiplied by)
        self._products: dict[Any, tuple[torch.Tensor, float, int]] = {}  # and the width of the product
        self.found: list[dict[str, Any]] = []

    @staticmethod
    def _key(tensor: Any) -> Any:
        return tensor.untyped_storage().data_ptr() if isinstance(tensor, torch.Tensor) and tensor.numel() else None

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = function.__name__.split(".")[0].rstrip("_")
        tensors = [one for one in args if isinstance(one, torch.Tensor)]
        if not isinstance(result, torch.Tensor) or not tensors:
            return result
        if name in _PRODUCTS and len(tensors) == 2 and not {self._key(one) for one in tensors} & self._own:
            before = math.prod(self._factors.get(self._key(one), (one, 1.0))[1] for one in tensors)
            self._products[self._key(result)] = (result, before, int(tensors[0].shape[-1]))
        elif name in ("mul", "div"):
            self._scaled(name, args, result)
        elif name in _PASSED:
            self._carry(tensors, result, 1.0)
        elif name.lstrip("_") in ("softmax", "safe_softmax") and self._key(tensors[0]) in self._products:
            _, factor, width = self._products[self._key(tensors[0])]
            scores = tensors[0][torch.isfinite(tensors[0])].float()
            self.found.append({"factor": factor, "width": float(width), "spread": float(scores.std()), **user_line()})
        return result

    def _scaled(self, name: str, args: Any, result: torch.Tensor) -> None:
        numbers = [one for one in args if not isinstance(one, torch.Tensor) or one.numel() == 1]
        if len(args) == 2 and len(numbers) == 1 and float(numbers[0]):
            times = float(numbers[0]) if name == "mul" else 1 / float(numbers[0])
            self._carry([one for one in args if isinstance(one, torch.Tensor)], result, times)

    def _carry(self, tensors: list[torch.Tensor], result: torch.Tensor, times: float) -> None:
        """The result inherits what is known of an argument, times a factor."""
        key = self._key(result)
        for one in tensors:
            if self._key(one) in self._products:
                _, factor, width = self._products[self._key(one)]
                self._products[key] = (result, factor * times, width)
                return
        _, factor = next(
            (self._factors[self._key(one)] for one in tensors if self._key(one) in self._factors), (0, 1.0)
        )
        if factor * times != 1:
            self._factors[key] = (result, factor * times)


def measure(run: Run) -> dict[str, Any]:
    """Of the layer with the largest factor. Raises NotApplicable if no product of two computed tensors reaches a softmax."""
    batch = batches(run)[0]
    arguments = Call.of(batch)
    with quiet(model_of(run, batch)) as model, _Scores(list(model.parameters())) as scores:
        call(model, *arguments.arguments())
    if not scores.found:
        raise NotApplicable("no attention with a softmax of its own was seen")
    return max(scores.found, key=lambda one: (one["factor"], one["width"]))


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires if scores of width 8 or more enter the softmax unscaled and spread wide there.

    A factor of 2 or more was written on purpose: the attention is sharpened.
    """
    shown, width = pick(numbers, *SHOWN), numbers["width"]
    text = f"attention scores of width {width:.0f} are multiplied by {numbers['factor']:.2g} before the softmax"
    if width >= LEAST and 0.99 < numbers["factor"] < 2 and numbers["spread"] > WIDE:
        place = {"file": numbers.get("file"), "line": numbers.get("line")}
        text += f" (usually by 1/sqrt(width) = {width**-0.5:.2g})"
        return Verdict("attention_scale", True, text, shown, (Suspect("attention/scale_missing", 0.7, text, **place),))
    return Verdict("attention_scale", False, text, shown)
