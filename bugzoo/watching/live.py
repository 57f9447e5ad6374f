"""The watched run's own objects, for instruments that need more than numbers. Never saved."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_map

from bugzoo.errors import UserError
from bugzoo.watching.frozen_on_purpose import FrozenOnPurpose

if TYPE_CHECKING:
    from bugzoo.watching.by_heart import Repeated
    from bugzoo.watching.evaluations import Evaluation
    from bugzoo.watching.replay import Replay
    from bugzoo.watching.trace import Trace


def not_yet(trace: "Trace", step: int) -> "Replay":
    """While the run goes on no step can be run again. Raises UserError."""
    raise UserError("Leave the `with bugzoo.watch()` block first: trace.replay(step) works when the run has ended.")


@dataclass
class Batch:
    """What one root module was called with. `targets` come from the loss node's saved tensors, None if it has none."""

    step: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    targets: torch.Tensor | None
    loss: float
    module: torch.nn.Module | None = None


@dataclass
class Live:
    """References into the run. `models`: root modules seen, those that were trained first."""

    began: float = field(default_factory=time.time)
    """Seconds since the epoch: what a process keeps a list of, such as compilations, holds earlier runs as well."""
    ended: float = float("inf")
    """The same, of the end of the watch."""
    models: list[torch.nn.Module] = field(default_factory=list)
    optimizers: list[torch.optim.Optimizer] = field(default_factory=list)
    first_batches: list[Batch] = field(default_factory=list)
    latest_batches: deque[Batch] = field(default_factory=lambda: deque(maxlen=4))
    evaluations: "list[Evaluation]" = field(default_factory=list)
    """Where the script called a model without gradients, in the order in which it was last done."""
    namespace: dict[str, Any] = field(default_factory=dict)
    """Globals, and on top of them the locals, of the frame with the training loop."""
    frozen_on_purpose: FrozenOnPurpose = field(default_factory=FrozenOnPurpose)
    replay: Callable[["Trace", int], "Replay"] = not_yet
    """Runs one step of its trace again, as `trace.replay(step)` does, once the run is over."""
    explain: Callable[[], None] | None = None
    """Runs one step again to find out which operation made the first number that is not finite; called once at most."""
    by_heart: "Callable[..., Repeated] | None" = None
    """Runs the loop's body again on the first batch: see `by_heart.by_heart`."""

    @property
    def batches(self) -> list[Batch]:
        """At most 8: the first ones and the latest."""
        return [*self.first_batches, *self.latest_batches]

    def add(self, batch: Batch) -> None:
        if len(self.first_batches) < 4:
            self.first_batches.append(batch)
        else:
            self.latest_batches.append(batch)


def detached(value: Any) -> Any:
    """The same arguments without their autograd graph, so that holding them holds no activations."""
    return tree_map(lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf, value)
