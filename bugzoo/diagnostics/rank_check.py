"""Do all ranks take the same steps, on different data, with one average?

Collectives such as all_reduce wait for every rank: when one rank skips a batch, the others hang. The rank with the fewest steps
and the line where it waits tell which. Losses that are equal to the last digit on every rank mean that all got the same data.
Parameters that drift apart mean that gradients are not averaged. DDP averages gradients over the ranks, so that each rank's loss
is the plain mean over its own batch, ln C before any learning. `loss_factor` is the first loss over ln C, times the backward
passes of a step; `loss_by_ranks` is that times the number of ranks, about 1 where the script divides by the world size as well.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bugzoo.diagnostics._example import Example
from bugzoo.diagnostics._tools import column, median
from bugzoo.diagnostics.conditions import Alarm, above, below, measured
from bugzoo.diagnostics.numbers import ANY, FLAG, Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run
from bugzoo.watching.records import ErrorRecord
from bugzoo.watching.trace import Trace

COST = 0
VIEW = "ranks"
TITLE = "Ranks"
_SCRIPT = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(6):
    optimizer.zero_grad()
    model(torch.randn(16, 8)).pow(2).mean().backward()
    optimizer.step()
dist.destroy_process_group()
"""
KNOWN_PROBLEMS = (
    "A false positive for tensor or pipeline parallelism: ranks hold different parameters, or compute equal losses, "
    "on purpose. "
    "It misses shards that overlap only in part and unequal step counts without a hang, and says nothing about one "
    "process."
)
HEALTHY = Example(_SCRIPT, ranks=2)
SICK = Example(_SCRIPT.replace("dist.get_rank()", "0"), ranks=2)
_CLASSES = (
    _SCRIPT.replace("import torch.dist", "import torch.nn.functional as F\nimport torch.dist")
    .replace("Linear(8, 1)", "Linear(8, 4)")
    .replace("    model(torch.randn(16, 8)).pow(2).mean().backward()\n", """\
    loss = F.cross_entropy(0.1 * model(torch.randn(32, 8)), torch.randint(4, (32,)))
    loss.backward()
""")
)  # fmt: skip
FURTHER = (
    (
        Example(_CLASSES, ranks=2),
        Example(_CLASSES.replace("loss.backward", "loss = loss / dist.get_world_size()\n    loss.backward"), ranks=2),
    ),
)
_PARTED = (
    "gloo/transport", "Connection closed by peer", "Connection reset by peer", "op.preamble.length", "ncclRemoteError",
    "NCCL communicator was aborted", "Detected mismatch between collectives",
)  # fmt: skip
"""What gloo and NCCL say when the ranks' collectives no longer belong together."""


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts, flags that are 0 or 1, and sizes over their mean. `stacks`: one traceback a rank, "" without an error."""

    ranks: float = number("ranks")
    steps_fewest: float = number("steps of the rank that made the fewest", "as many as every other rank")
    steps_most: float = number("steps of the rank that made the most", "as many as every other rank")
    spread: float = number("largest distance of two losses at a step, over the mean", (1e-6, ANY))
    parameter_spread: float = number("distance of the ranks' parameters at the end", (0, 1e-5))
    loss_factor: float | None = optional("first loss over ln(classes)", (0.75, 1.5))
    hung: float = number(hidden=FLAG)
    loss_by_ranks: float | None = optional(hidden=FLAG)
    rank_behind: float
    parted: float
    stacks: list[str]
    file: str | None = None
    line: int | None = None
    plain_mean: float | None = None


hangs = Alarm(
    above("hung"),
    "The steps of each rank were counted. One took {steps_fewest:.0f}, another {steps_most:.0f}, and then all ranks "
    "hang.",
    "All ranks should take the same number of steps.",
)
breaks = Alarm(
    above("parted"),
    "The steps of each rank were counted. After {steps_fewest:.0f} common steps the connection broke.",
    "All ranks should take the same steps to the end.",
)
parameters_differ = Alarm(
    above("parameter_spread", 1e-5),
    "The parameters of the ranks were compared at the end. They differ by {parameter_spread:.2g} of their size.",
    "They should be equal; up to {limits[parameter_spread]:.5f} passes.",
)
losses_equal = Alarm(
    measured("spread", "steps_fewest") & ~above("spread") & ~below("steps_fewest", 3),
    "The losses of the ranks were compared at each step. They are equal to the last digit (difference {spread:.0f}).",
    "They should differ, as each rank has its own data.",
)
loss_divided = Alarm(
    below("plain_mean", 1) & above("loss_by_ranks", 0.85) & ~above("loss_by_ranks", 1.15),
    "The first loss was compared with the loss of guessing. It is {loss_factor:.2g} times as large.",
    "About 1 time passes.",
)
ALARMS = (hangs, breaks, parameters_differ, losses_equal, loss_divided)


def _final_norm(trace: Trace) -> float:
    sizes = np.asarray(trace.param_norm, dtype=np.float64)
    return float(np.sqrt(np.nansum(sizes[-1] ** 2))) if sizes.ndim == 2 and len(sizes) else math.nan


def _lost_peer(error: ErrorRecord) -> bool:
    """Did this rank stop inside a collective, because another rank was gone or called a different one?"""
    text = str(error.get("message", ""))
    return any(sign in text for sign in _PARTED)


def _own_error(error: ErrorRecord) -> bool:
    """Did this rank fail of itself, so that the others lost their connection to it? gloo's own threads abort."""
    kind = error.get("type")
    if kind == "Killed":
        message = str(error.get("message", ""))
        return "SIGABRT" not in message or ("uncaught" in message and not _lost_peer(error))
    return bool(kind) and kind not in ("Stopped", "SignalException") and not _lost_peer(error)


def measure(run: Run) -> Numbers:
    """`hung` 0/1, steps per rank, relative spread of losses and parameter norms. Raises NotApplicable for one rank."""
    traces = [rank.trace for rank in run.ranks]
    if len(traces) < 2:
        raise NotApplicable("the script ran in one process")
    counts = [len(column(trace.step)) for trace in traces]
    shared = min(counts)
    losses = np.stack([column(trace.loss)[:shared] for trace in traces])
    finite = losses[:, np.isfinite(losses).all(axis=0)]
    mean = np.abs(finite.mean()) if finite.size else math.nan
    norms = np.asarray([_final_norm(trace) for trace in traces])
    errors = [trace.error or ErrorRecord() for trace in traces]
    behind = int(np.argmin(counts))
    place = next((error for error in (errors[behind], *errors) if error.get("line")), ErrorRecord())
    factor, plain_mean = _average(traces)
    return Numbers(
        ranks=float(len(traces)),
        hung=float("hung" in (run.outcome, *(trace.outcome for trace in traces))),
        steps_fewest=float(shared),
        steps_most=float(max(counts)),
        rank_behind=float(behind),
        parted=float(any(map(_lost_peer, errors)) and not any(map(_own_error, errors))),
        spread=float(np.ptp(finite, axis=0).max() / mean) if finite.size and mean else 0.0,
        parameter_spread=float(np.ptp(norms) / (np.abs(norms).mean() + 1e-30))
        if np.isfinite(norms).all()
        else math.nan,
        stacks=[str(error.get("traceback") or "")[-2000:] for error in errors],
        file=place.get("file"),
        line=place.get("line"),
        loss_factor=factor,
        loss_by_ranks=None if factor is None else factor * len(traces),
        plain_mean=plain_mean,
    )


def _average(traces: list[Trace]) -> tuple[float | None, float | None]:
    """(first loss over that of guessing, is the loss a plain mean? 0/1); None for any but a cross-entropy over classes."""
    graph = traces[0].graph
    classes = graph.classes or 0
    first = [column(trace.loss)[0] for trace in traces if len(column(trace.loss))]
    if classes < 2 or len(first) < len(traces):
        return None, None
    factor = float(np.mean(first)) / math.log(classes) * max(1.0, median(traces[0].backwards, 1.0))
    return factor, float(graph.reduction == "mean" and graph.ops[:1] == (graph.loss_op,))


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on a hang, unequal steps, losses equal to the last digit, different parameters, and a loss divided twice."""
    suspects = (*_steps(numbers), *_averaged_twice(numbers))
    text = f"{numbers.ranks:.0f} ranks, {numbers.steps_fewest:.0f} steps each, equal parameters, different data"
    text = suspects[0].reason if suspects else text
    return Verdict("rank_check", bool(suspects), text, numbers.labeled(), suspects)


def _steps(numbers: Numbers) -> Iterator[Suspect]:
    fewest = f"{numbers.steps_fewest:.0f}"
    if hangs(numbers):
        text = f"the ranks hang: rank {numbers.rank_behind:.0f} took {fewest} steps, another {numbers.steps_most:.0f}; "
        text += "each waits for a collective that the other does not call"
        yield Suspect("distributed/skipped_batch", 0.85, text, numbers.file, numbers.line)
    elif breaks(numbers):
        text = f"after {fewest} common steps the ranks called different collectives, and the connection broke, though no rank "
        text += "raised an error of its own: one rank skipped a batch, or had fewer"
        yield Suspect("distributed/skipped_batch", 0.8, text, numbers.file, numbers.line)
    elif parameters_differ(numbers):
        text = f"after the run the ranks' parameters differ by {numbers.parameter_spread:.2g} of their size"
        text += f" (usually {Numbers.usual('parameter_spread')})"
        yield Suspect("distributed/unsynchronised_model", 0.85, text)
    elif losses_equal(numbers):
        text = "the losses of all ranks are equal to the last digit: every rank got the same data"
        yield Suspect("distributed/same_shard_everywhere", 0.8, text)


def _averaged_twice(numbers: Numbers) -> Iterator[Suspect]:
    if loss_divided(numbers):
        text = f"the first loss is {numbers.loss_factor:.2g} of ln(classes), one part in {numbers.ranks:.0f}: "
        text += "the script divides it by the world size, and DDP averages the gradients once more"
        yield Suspect("distributed/loss_normalised_per_rank", 0.8, text)
