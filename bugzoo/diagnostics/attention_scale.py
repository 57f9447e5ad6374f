"""Are attention scores divided by sqrt(head width) before the softmax?

The dot product of a query and a key of width d has a spread that grows with sqrt(d). Unscaled, the softmax soon puts all weight
on one position, and its gradient nearly vanishes. Wider heads get there sooner. `factor` is what the scores are multiplied by
between the product and the softmax, times earlier factors on query and key. 1/sqrt(`width`) is usual. A fused attention kernel
scales by itself and is not checked. Measured in one forward pass.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics._attention import _PRODUCTS, _SAME
from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._lines import user_line
from bugzoo.diagnostics._sequences import Call
from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, quiet
from bugzoo.running.result import Run

COST = 1
VIEW = "influence"
TITLE = "Scores of the attention"
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
_PASSED = (*_SAME, "masked_fill", "add", "sub", "where")


@dataclass(kw_only=True)
class Numbers(Measured):
    """Of one attention layer; `file` and `line`: its softmax in the script, if known."""

    width: float = number("width d of a query")
    factor: float = number("factor on the attention scores before the softmax", "1/sqrt(d)")
    spread: float = number("spread of the scores before the softmax")
    file: str | None = None
    line: int | None = None


unscaled = Alarm(
    above("width") & ~below("width", 8) & above("factor", 0.99) & below("factor", 2) & above("spread", 1.5),
    "The scores of the attention were recorded. With queries of width {width:.0f} they spread by {spread:.2g}.",
    "A spread of at most {limits[spread]:.1f} passes.",
)
"""Scores that spread less need no scaling: cosine similarities, and models with smaller initial weights instead.
A larger factor was written on purpose: the attention is sharpened."""
ALARMS = (unscaled,)


class _Scores(TorchDispatchMode):
    """Follows products of two computed tensors through scalings and masks into a softmax."""

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        super().__init__()
        self._parameters = {self._key(tensor) for tensor in parameters}
        self._factors: dict[Any, tuple[torch.Tensor, float]] = {}  # storage -> (kept alive, multiplied by)
        self._products: dict[Any, tuple[torch.Tensor, float, int]] = {}  # and the width of the product
        self.layers: list[Numbers] = []

    @staticmethod
    def _key(tensor: Any) -> Any:
        return tensor.untyped_storage().data_ptr() if isinstance(tensor, torch.Tensor) and tensor.numel() else None

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = function.__name__.split(".")[0].rstrip("_")
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
        if not isinstance(result, torch.Tensor) or not tensors:
            return result
        if name in _PRODUCTS and len(tensors) == 2 and not {self._key(tensor) for tensor in tensors} & self._parameters:
            before = math.prod(self._factors.get(self._key(tensor), (tensor, 1.0))[1] for tensor in tensors)
            self._products[self._key(result)] = (result, before, int(tensors[0].shape[-1]))
        elif name in ("mul", "div"):
            self._scaled(name, args, result)
        elif name in _PASSED:
            self._carry(tensors, result, 1.0)
        elif name.lstrip("_") in ("softmax", "safe_softmax") and self._key(tensors[0]) in self._products:
            _, factor, width = self._products[self._key(tensors[0])]
            scores = tensors[0][torch.isfinite(tensors[0])].float()
            file, line = user_line() or (None, None)
            spread = float(scores.std())
            self.layers.append(Numbers(factor=factor, width=float(width), spread=spread, file=file, line=line))
        return result

    def _scaled(self, name: str, args: Any, result: torch.Tensor) -> None:
        numbers = [arg for arg in args if not isinstance(arg, torch.Tensor) or arg.numel() == 1]
        if len(args) == 2 and len(numbers) == 1 and float(numbers[0]):
            times = float(numbers[0]) if name == "mul" else 1 / float(numbers[0])
            self._carry([arg for arg in args if isinstance(arg, torch.Tensor)], result, times)

    def _carry(self, tensors: list[torch.Tensor], result: torch.Tensor, times: float) -> None:
        """The result inherits what is known of an argument, times a factor."""
        key = self._key(result)
        for tensor in tensors:
            if self._key(tensor) in self._products:
                _, factor, width = self._products[self._key(tensor)]
                self._products[key] = (result, factor * times, width)
                return
        _, factor = next(
            (self._factors[self._key(tensor)] for tensor in tensors if self._key(tensor) in self._factors), (0, 1.0)
        )
        if factor * times != 1:
            self._factors[key] = (result, factor * times)


def measure(run: Run) -> Numbers:
    """Of the layer with the largest factor. Raises NotApplicable if no product of two computed tensors reaches a softmax."""
    batch = batches(run)[0]
    arguments = Call.of(batch)
    with quiet(model_of(run, batch)) as model, _Scores(list(model.parameters())) as scores:
        call(model, *arguments.arguments())
    if not scores.layers:
        raise NotApplicable("no attention with a softmax of its own was seen")
    return max(scores.layers, key=lambda layer: (layer.factor, layer.width))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires if scores of a wide head enter the softmax unscaled and spread wide there."""
    width, factor = numbers.width, numbers.factor
    text = f"attention scores of width {width:.0f} are multiplied by {factor:.2g} before the softmax"
    suspects: tuple[Suspect, ...] = ()
    if unscaled(numbers):
        text += f" (usually by 1/sqrt({width:.0f}) = {width**-0.5:.2g})"
        suspects = (Suspect("attention/scale_missing", 0.7, text, numbers.file, numbers.line),)
    return Verdict("attention_scale", bool(suspects), text, numbers.labeled(), suspects)
