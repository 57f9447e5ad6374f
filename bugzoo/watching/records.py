"""What a `Trace` is made of: parameters, events, forwards, the graph, the environment, the error; plain data."""

from dataclasses import dataclass, field
from typing import Any, TypedDict

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
    """Of a crash: see `bugzoo.watching.scene`; what takes another forward pass is there when `Trace.explain` was called."""
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


@dataclass
class Replay:
    """What one step showed when it was run again: see `Trace.replay`.

    `faithful`: the replayed loss equals the recorded one to the last bit. `first`: the first operation whose result was
    not finite: {"module", "op", "direction", "file", "line", "code"}, None when all of them were finite.
    """

    step: int
    loss: float
    grad_norm: float
    faithful: bool
    first: dict[str, Any] | None = field(default=None)
    message: str = ""
