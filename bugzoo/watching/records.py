"""The parts of a `Trace` as plain data: parameters, events, forwards, the graph, the environment, the error."""

from dataclasses import dataclass, field
from typing import Any, TypedDict

OUTCOMES = ("finished", "crashed", "non_finite", "hung", "out_of_memory", "stopped", "timed_out")
STATISTICS = ("mean", "std", "zeros", "saturated", "non_finite")
"""Columns of `module_stats`; the last three are shares between 0 and 1."""


@dataclass
class Parameter:
    """One parameter. `group` is the index of its parameter group, None if it is in no optimizer."""

    name: str
    shape: tuple[int, ...]
    trainable: bool
    dtype: str
    device: str
    group: int | None
    changed: float
    """|now - start| / |start| at the end of the run. 0 means unchanged."""


class ErrorRecord(TypedDict, total=False):
    """The error that ended a run. It is empty for a finished run."""

    type: str
    message: str
    traceback: str
    """The script's part of the traceback."""
    file: str | None
    line: int | None
    stacks: dict[str, list[str]]
    """For a run that hung: rank -> its stack, innermost call first."""
    scene: dict[str, Any]
    """For a crash: see `bugzoo.watching.scene`. Parts that need another forward pass are added by `Trace.explain`."""
    after: str
    """Traceback of a `Job.after` function that failed."""
    export: str
    """Traceback of a `Job.export` or `Job.predict` that failed."""


class EventData(TypedDict, total=False):
    """The data of an event. Which keys it has depends on its kind."""

    module: str | None
    op: str | None
    direction: str
    """`forward`, `backward`, `loss`, `gradient` or `update`."""
    file: str | None
    line: int | None
    code: str | None
    faithful: bool
    """Whether the replayed step had exactly the recorded loss."""
    parameter: str | None
    training: bool
    grad: bool
    optimizer: int
    type: str


class LibraryWarning(TypedDict):
    """A warning that was shown during the run, and the line of the script that was running (0 if none was)."""

    file: str
    line: int
    kind: str
    """Its class, such as `UserWarning`."""
    message: str


class Environment(TypedDict, total=False):
    """The machine of a run, and counts of the watch that do not belong to a step."""

    python: str
    torch: str
    numpy: str
    system: str
    threads: int
    cuda: str | None
    deterministic: bool
    graphs_alive: int
    """The most losses with a graph that were alive at once, out of `graphs_marked`."""
    graphs_marked: int
    backwards: int
    step_places: list[Any]
    """(file, line) of each optimizer's step(), None if unknown. Lists instead of tuples in a loaded trace."""
    idle: float | None
    """Share of idle processor time."""
    peak_mib: float
    watch_errors: list[str]
    warned: list[LibraryWarning]
    """Each once, in their order."""
    stepped_aside: dict[str, str]
    """Id of a contract -> why it could not judge a call of the script."""


@dataclass
class Event:
    """An event at a step (counted from 1).

    `kind`: `non_finite` (data: module, op, direction, file, line) · `skipped_step` (optimizer) · `mode` (module, training,
    grad) · `exception` (type).
    """

    step: int
    kind: str
    data: EventData = field(default_factory=EventData)


@dataclass(frozen=True)
class Graph:
    """Findings in the autograd graph of a sampled step's loss. The defaults mean that no loss was seen."""

    loss_op: str = ""
    """The loss's node, such as `NllLossBackward0`. For a loss that torch does not have, the outermost node."""
    leaf: bool = False
    """The loss requires a gradient and has no graph: it was rebuilt from a number, as a detached tensor."""
    ops: tuple[str, ...] = ()
    """Names of the nodes, each once, nearest to the loss first."""
    classes: int | None = None
    """Number of classes: the size of the axis of the loss's own log-softmax."""
    rows: int | None = None
    """Number of targets in the first sampled loss, without ignored ones."""
    reduction: str | None = None
    """"mean", "sum" or "none", from the loss's node."""
    softmax_before_loss: bool = False
    log_prob_spread: float | None = None
    """Nats between the largest and the smallest log-probability of a row, on average."""
    outer_broadcast: bool = False
    """Input (N, 1) and target (N,) were broadcast to (N, N)."""
    mask_stretched: bool = False
    """A mask (N,) was applied to numbers (N, 1): each sample is masked by the mask of every other."""
    normalised: bool = False
    """A negative log-likelihood got probabilities instead of log-probabilities."""
    step: int = 0
    """The sampled step of these findings. `rows` is from the first sampled step."""
    autocast: str | None = None
    """`float16` or `bfloat16` if the forward pass ran under autocast."""


@dataclass(frozen=True)
class Forward:
    """How often a root module was called under the same conditions.

    With gradients, only the first call before each backward counts. Without gradients, every call up to that one counts.
    """

    module: str
    grad: bool
    training: bool
    in_training_loop: bool
    after_step: bool
    """The call is after the optimizer's step in the loop."""
    followed_by_backward: bool
    """With gradients: backward() followed. It does not follow an evaluation without no_grad()."""
    count: int
    learns: bool
    """Whether backward() ever followed a call of this module with gradients."""


@dataclass(frozen=True)
class Validation:
    """The script's own evaluations from one place: losses without gradients, mean over the rows of each evaluation."""

    line: int
    """Where the script evaluates: the line of the call of its function, or of the loss at top level."""
    step: list[int]
    """(E,) optimizer steps done."""
    loss: list[float]
    """(E,)"""
    accuracy: list[float]
    """(E,) share of rows whose largest output is the target's class, NaN for another loss."""

    @property
    def points(self) -> list[tuple[int, float]]:
        """Return (steps done, loss) of each evaluation."""
        return list(zip(self.step, self.loss, strict=True))


@dataclass
class Replay:
    """The result of re-running one step: see `Trace.replay`.

    `faithful`: the replayed loss equals the recorded one exactly. `first`: the first operation whose result was not
    finite: {"module", "op", "direction", "file", "line", "code"}, None if all were finite.
    """

    step: int
    loss: float
    grad_norm: float
    faithful: bool
    first: dict[str, Any] | None = field(default=None)
    message: str = ""
