"""`Trace`: what one watched training run did, as plain numbers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from bugzoo.errors import UserError

if TYPE_CHECKING:
    from bugzoo.watching.live import Live
    from bugzoo.watching.replay import Replay

OUTCOMES = ("finished", "crashed", "non_finite", "hung", "out_of_memory", "stopped", "timed_out")
STATISTICS = ("mean", "std", "zeros", "saturated", "non_finite")
"""Columns of `module_stats`; the last three are shares between 0 and 1."""


@dataclass
class Parameter:
    """One parameter as the watch found it. `group` is the optimiser group's index, None in no optimiser."""

    name: str
    shape: tuple[int, ...]
    trainable: bool
    dtype: str
    device: str
    group: int | None
    changed: float
    """|now - start| / |start| at the end of the run; 0 means untouched."""


class ErrorRecord(TypedDict, total=False):
    """What ended a run that did not finish; empty for one that did."""

    type: str
    message: str
    traceback: str
    """The script's part of it."""
    file: str | None
    line: int | None
    stacks: dict[str, list[str]]
    """Of a run that was ended because it stood still: rank -> innermost call first."""
    scene: dict[str, Any]
    """Of a crash: see `bugzoo.watching.scene`."""
    after: str
    """Traceback of a `Job.after` function that failed."""
    export: str
    """Traceback of a `Job.export` or `Job.predict` that failed."""


class EventData(TypedDict, total=False):
    """What an event tells beside its step; which of it is there depends on the kind."""

    module: str | None
    op: str | None
    direction: str
    """`forward`, `backward`, `loss`, `gradient` or `update`."""
    file: str | None
    line: int | None
    code: str | None
    faithful: bool
    """Was the step that told it replayed to the last bit?"""
    parameter: str | None
    training: bool
    grad: bool
    optimizer: int
    type: str


class Environment(TypedDict, total=False):
    """Where a run took place, and what the watch counted that belongs to no step."""

    python: str
    torch: str
    numpy: str
    system: str
    threads: int
    cuda: str | None
    deterministic: bool
    graphs_alive: int
    """Most losses with a graph that were alive at once, of `graphs_marked`."""
    graphs_marked: int
    backwards: int
    step_places: list[Any]
    """(file, line) of each optimiser's step(), None where it is not known; lists when it comes from a file."""
    idle: float | None
    """Share of the processors that nothing used."""
    peak_mib: float
    watch_errors: list[str]


@dataclass
class Event:
    """Something that happened at a step (counted from 1).

    `kind`: `non_finite` (data: module, op, direction, file, line) · `skipped_step` (optimizer) · `mode` (module, training,
    grad) · `exception` (type).
    """

    step: int
    kind: str
    data: EventData = field(default_factory=EventData)


@dataclass(frozen=True)
class Graph:
    """What the autograd graph of a sampled step's loss showed; the defaults stand for "no loss was seen"."""

    loss_op: str = ""
    """The loss's node, such as `NllLossBackward0`; the outermost one where none is a loss that torch knows."""
    leaf: bool = False
    """The loss requires a gradient and has no graph: it was rebuilt from a number."""
    ops: tuple[str, ...] = ()
    """Names of the nodes, each once, nearest to the loss first."""
    classes: int | None = None
    """Size of the axis that the loss's own log-softmax runs over."""
    rows: int | None = None
    """Targets that counted in the first sampled loss; those that are to be ignored left aside."""
    reduction: str | None = None
    """"mean", "sum" or "none", as the loss's node says."""
    softmax_before_loss: bool = False
    log_prob_spread: float | None = None
    """Nats between the largest and the smallest log-probability of a row, on average."""
    outer_broadcast: bool = False
    """Input (N, 1) and target (N,) were stretched to (N, N)."""
    mask_stretched: bool = False
    """A mask (N,) was laid over numbers (N, 1): each sample counts with the mask of every other."""
    normalised: bool = False
    """A negative log-likelihood got probabilities."""
    step: int = 0
    """The sampled step that this was seen at; `rows` is the first one's."""
    autocast: str | None = None
    """`float16` or `bfloat16` where the forward pass ran under autocast."""


@dataclass(frozen=True)
class Forward:
    """How often a root module was called in one circumstance.

    With gradients, the first call before each backward is counted; without, every call up to that one.
    """

    module: str
    grad: bool
    training: bool
    in_training_loop: bool
    after_step: bool
    """From below the optimiser's step in the loop."""
    followed_by_backward: bool
    """With gradients: what came back went backward. An evaluation that keeps its graph for nothing does not."""
    count: int
    learns: bool
    """Did a backward ever follow a call of this module with gradients?"""


def _empty(*shape: int) -> Callable[[], np.ndarray]:
    return partial(np.zeros, shape)


@dataclass
class Trace:
    """Numbers of one run. S optimiser steps, P parameters, M modules, K sampled steps.

    NaN marks "not taken at this step"; non-finite losses and norms are kept as they are.
    """

    step: Any = field(default_factory=_empty(0))
    """(S,) number of the optimiser step, from 1."""
    loss: Any = field(default_factory=_empty(0))
    """(S,) loss, unscaled (the GradScaler's factor divided out), mean over the step's backward calls."""
    grad_norm: Any = field(default_factory=_empty(0))
    """(S,) global L2 norm of the gradient that the optimiser got, before its step."""
    update_ratio: Any = field(default_factory=_empty(0))
    """(S,) |parameter change of the step| / |parameters|, NaN where not sampled."""
    learning_rate: Any = field(default_factory=_empty(0))
    scale: Any = field(default_factory=_empty(0))
    """(S,) GradScaler's factor, NaN without a scaler."""
    leftover: Any = field(default_factory=_empty(0))
    """(S,) norm of the gradient already present at the step's first backward, over the norm at the step; 0 is fresh."""
    backwards: Any = field(default_factory=_empty(0))
    """(S,) backward calls since the step before."""
    optimizer: Any = field(default_factory=_empty(0))
    """(S,) index of the optimiser that stepped."""
    data_ms: Any = field(default_factory=_empty(0))
    forward_ms: Any = field(default_factory=_empty(0))
    backward_ms: Any = field(default_factory=_empty(0))
    step_ms: Any = field(default_factory=_empty(0))
    """(S,) milliseconds: fetching data and other work before the forward pass; forward with loss; backward; optimiser.
    What the thread waited for a processor that other programs had is not counted. On CUDA the first three are the times
    of launching, not of computing."""
    memory_mib: Any = field(default_factory=_empty(0))
    """(S,) MiB: the process's resident memory on the CPU (sampled, NaN between), allocated memory on CUDA."""
    parameters: list[Parameter] = field(default_factory=list)
    param_grad_norm: Any = field(default_factory=_empty(0, 0))
    """(S, P) gradient norm; NaN where the gradient is None."""
    param_norm_step: Any = field(default_factory=_empty(0))
    """(K,) steps at which parameter norms were taken."""
    param_norm: Any = field(default_factory=_empty(0, 0))
    """(K, P)"""
    grad_zeros: Any = field(default_factory=_empty(0, 0))
    """(K, P) share of exact zeros in each gradient at the steps of `param_norm_step`; NaN where there is none."""
    modules: list[str] = field(default_factory=list)
    """M names, such as `Net.layer2 (Linear)`."""
    module_step: Any = field(default_factory=_empty(0))
    module_stats: Any = field(default_factory=_empty(0, 0, 5))
    """(K, M, 5) statistics of each module's output, columns STATISTICS."""
    forwards: list[Forward] = field(default_factory=list)
    graph: Graph = field(default_factory=Graph)
    events: list[Event] = field(default_factory=list)
    outcome: str = "finished"
    error: ErrorRecord = field(default_factory=ErrorRecord)
    metrics: dict[str, float] = field(default_factory=dict)
    """The script's own final numbers: its top-level dict named `metrics`, where it has one."""
    environment: Environment = field(default_factory=Environment)
    live: "Live | None" = field(default=None, repr=False, compare=False)
    """The run's own objects (models, optimisers, batches, namespace); never saved, None in a loaded trace."""

    def save(self, path: str | Path) -> Path:
        """Write the trace to one .npz file without pickle, whole or not at all. Raises UserError (a full disk, say)."""
        from bugzoo.watching.storage import save

        return save(self, path)

    @staticmethod
    def load(path: str | Path) -> "Trace":
        """Read a saved trace. Raises UserError for a file that is none."""
        from bugzoo.watching.storage import load

        return load(path)

    def replay(self, step: int) -> "Replay":
        """Run optimiser step `step` (from 1) once more, under anomaly mode, and leave everything as it was.

        Raises UserError when the step is out of reach of the snapshots, or in a trace that was loaded from a file.
        """
        if self.live is None:
            raise UserError(
                "A trace that was loaded from a file cannot be replayed: run the training under watch() again."
            )
        return self.live.replay(self, step)

    def first_non_finite(self) -> Event | None:
        """The earliest non-finite event, None in a finite run; which operation made it is found by running that step again.

        That is done once, by the first call, and leaves everything as it was. A trace from a file has what was found then.
        """
        self.explain()
        return self.earliest("non_finite")

    def explain(self) -> None:
        """Complete the first non-finite event, by running its step again, where that has not been done."""
        once = self.live.explain if self.live is not None else None
        if once is not None and self.live is not None:
            self.live.explain = None
            once()

    def earliest(self, kind: str) -> Event | None:
        """The event of a kind with the smallest step; None where there is none."""
        found = [event for event in self.events if event.kind == kind]
        return min(found, key=lambda event: event.step, default=None)
