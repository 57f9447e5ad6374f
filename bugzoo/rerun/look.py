"""Call a part of a script again, and record the data of its models, losses and loaders."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.data import DataLoader

from bugzoo.errors import NotApplicable
from bugzoo.rerun.budget import Budget, OutOfTime
from bugzoo.rerun.model import main_output, quiet, tensors
from bugzoo.rerun.restore import lent
from bugzoo.rerun.silence import silent

SECONDS = 5.0
"""Limit in processor time of this thread, so that a busy machine gives as many rows."""
_LOSSES = (
    F.cross_entropy,
    F.nll_loss,
    F.mse_loss,
    F.l1_loss,
    F.binary_cross_entropy_with_logits,
    F.binary_cross_entropy,
)
_COMPARE = (torch.eq, torch.Tensor.eq, torch.Tensor.__eq__)
_CLASSIFIES = ("cross_entropy", "nll_loss")


@dataclass
class Evaluated:
    """Recorded data. `pairs`: (outputs, targets) of each loss call; `inputs`: of each model call; `loaders`: those read."""

    inputs: list[torch.Tensor] = field(default_factory=list)
    outputs: list[torch.Tensor] = field(default_factory=list)
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    loaders: list[Any] = field(default_factory=list)
    matches: list[torch.Tensor] = field(default_factory=list)
    """Whether predicted classes were correct, (B,) for each comparison with the targets."""
    kind: str = ""
    """The loss: cross_entropy, mse_loss, ..."""
    ignored: int = -100
    """The loss's ignore_index. `pairs` do not include these targets."""
    returned: list[float] = field(default_factory=list)
    """The numbers that the script's function returned, or that its statements assigned."""

    @property
    def classifies(self) -> bool:
        """Return whether outputs are logits with classes in the last axis, and targets are class indices."""
        return self.kind in _CLASSIFIES and all(not y.is_floating_point() for _, y in self.pairs)

    def accuracy(self) -> float:
        """Return the share of all targets whose class has the largest output in its row."""
        right = sum(float((x.argmax(-1) == y).sum()) for x, y in self.pairs)
        return right / max(1, sum(y.numel() for _, y in self.pairs))

    def loss(self) -> float:
        """Return the mean loss over all targets, independent of batch sizes (nats, or squared units)."""
        function = getattr(F, self.kind)
        summed = sum(float(function(x.float(), y, reduction="sum")) for x, y in self.pairs)
        return summed / max(1, sum(y.numel() for _, y in self.pairs))


class _Seen(TorchFunctionMode):
    """Records the arguments of every loss, and every comparison of two tensors of class indices."""

    def __init__(self, found: Evaluated) -> None:
        super().__init__()
        self.found = found

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if function in _LOSSES:
            arguments = [*args, *(kwargs[name] for name in ("input", "target") if name in kwargs)]
            if len(arguments) > 1 and all(isinstance(argument, torch.Tensor) for argument in arguments[:2]):
                self.found.kind = function.__name__
                self.found.ignored = kwargs.get("ignore_index", -100)
                self.found.pairs.append(_counted(arguments[0].detach(), arguments[1].detach(), self.found.ignored))
        result = function(*args, **kwargs)
        if function in _COMPARE and len(args) > 1 and all(_numbered(argument) for argument in args[:2]):
            if args[0].shape == args[1].shape:
                self.found.matches.append(result.detach().flatten())
        return result


def _counted(answers: torch.Tensor, targets: torch.Tensor, ignored: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the rows whose target the loss does not ignore."""
    if targets.is_floating_point() or answers.ndim != targets.ndim + 1 or not (targets == ignored).any():
        return answers, targets
    used = targets != ignored
    return answers.movedim(1, -1)[used], targets[used]


def _numbered(value: Any) -> bool:
    """Return whether this is an integer tensor with an axis: predicted or true classes."""
    return isinstance(value, torch.Tensor) and value.ndim > 0 and not value.is_floating_point()


def look(model: torch.nn.Module, call: Callable[[], Any], again: bool = False) -> Evaluated:
    """Record the data of `model` while `call` runs, for SECONDS at most, with `again` under other random numbers.

    Raises NotApplicable if the call fails, or never calls the model.
    """
    if isinstance(model, torch.nn.parallel.DistributedDataParallel):
        raise NotApplicable("the other ranks of the distributed model have ended")
    evaluation = Evaluated()
    budget = Budget(SECONDS)

    def called(_: Any, args: Any, named: Any, output: Any) -> None:
        budget.check()
        if inputs := tensors((args, named)):
            evaluation.inputs.append(inputs[0].detach().clone())
            evaluation.outputs.append(main_output(output).detach())

    try:
        hook = model.register_forward_hook(called, with_kwargs=True)
        with hook, quiet(model), _reading(evaluation), silent(), _Seen(evaluation):
            if again:
                torch.manual_seed(1)
            evaluation.returned = _numbers(call())
    except OutOfTime:
        pass
    except (Exception, SystemExit) as error:
        raise NotApplicable(f"its evaluation cannot be run again ({type(error).__name__}: {error})"[:200]) from None
    if not evaluation.inputs:
        raise NotApplicable("no code after the training loop calls the model")
    return evaluation


def _numbers(returned: Any) -> list[float]:
    """Return all single numbers in a function's return value."""
    single = [leaf for leaf in tree_leaves(returned) if not isinstance(leaf, torch.Tensor) or leaf.numel() == 1]
    return [float(leaf) for leaf in single if isinstance(leaf, int | float | torch.Tensor)]


@contextlib.contextmanager
def _reading(found: Evaluated) -> Iterator[None]:
    """Record every DataLoader that is read."""
    original = DataLoader.__iter__

    def read(loader: Any) -> Any:
        found.loaders.append(loader)
        return original(loader)

    with lent(DataLoader, "__iter__", read):
        yield
