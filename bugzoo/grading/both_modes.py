"""What later tokens do in train mode and in eval mode, for a *break* exercise whose claims ask for it.

`dependency` calls the model in eval mode, as a view does. An edit that leaks in one mode only is a trick: it trains an
honest model, or evaluates one. So each number here is the worse one of the two modes. It is measured in the
submission's process after its run, by `inside`.
"""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics import dependency
from bugzoo.diagnostics._sequences import Call, shifted
from bugzoo.diagnostics._tools import batches, model_of
from bugzoo.errors import NotApplicable
from bugzoo.rerun.model import call, quiet
from bugzoo.running import Run

SAYS = {
    "future_leak": "Later tokens were changed in train mode and in eval mode: smaller change of earlier outputs",
    "later_weight": "The softmax of the attention was read in train mode and in eval mode: largest weight on a later position",
}
"""Number -> what was done, up to its value."""


class SquareSoftmax(TorchDispatchMode):
    """Reads each softmax over a (..., time, time) table: `later` is its largest value above the diagonal."""

    def __init__(self) -> None:
        super().__init__()
        self.later: list[float] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = function.__name__.split(".")[0].strip("_")
        if name in ("softmax", "safe_softmax") and result.ndim > 2 and result.shape[-1] == result.shape[-2]:
            self.later.append(float(result.triu(1).max()))
        return result


def measure(run: Run) -> dict[str, float]:
    """Return the smaller `future_leak` and the larger `later_weight` of the two modes; a number is absent if one mode
    does not have it. Raises NotApplicable without a batch whose targets are its tokens one position later.
    """
    batch = batches(run)[-1]
    arguments = Call.of(batch)
    place = arguments.main()
    shift = None if place is None else shifted(arguments.leaves[place], batch.targets)
    if place is None or shift is None or shift[1]:
        raise NotApplicable("the targets are not the tokens one position later")
    found = [_in_mode(run, batch, arguments, place, shift[0], training) for training in (True, False)]
    worst = {"future_leak": min, "later_weight": max}
    return {name: of(one[name] for one in found) for name, of in worst.items() if all(name in one for one in found)}


def _in_mode(run: Run, batch: Any, arguments: Call, place: int, axis: int, training: bool) -> dict[str, float]:
    """`call` sets the seed, so that dropout drops the same units before and after a change."""
    with quiet(model_of(run, batch), training=training) as model:
        with SquareSoftmax() as softmax:
            out = call(model, batch.args, batch.kwargs)
        found = dependency.future(model, arguments, place, out, axis)
    leak = {"future_leak": found["future_leak"]} if "future_leak" in found else {}
    return leak | ({"later_weight": max(softmax.later)} if softmax.later else {})
