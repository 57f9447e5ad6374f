"""Do all ranks take the same steps, on different data, with one average?

Collectives such as all_reduce wait for every rank: when one rank skips a batch, the others hang. The rank with the fewest steps
and the line where it waits tell which. Losses that are equal to the last digit on every rank mean that all got the same data.
Parameters that drift apart mean that gradients are not averaged. DDP averages gradients over the ranks, so that each rank's loss
is the plain mean over its own batch, ln C before any learning. `loss_factor` is the first loss over ln C, times the backward
passes of a step; `loss_by_ranks` is that times the number of ranks, about 1 where the script divides by the world size as well.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import Example
from bugzoo.diagnostics._tools import column, median, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
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
SHOWN = {
    "ranks": ("ranks", ""),
    "steps_fewest": ("steps of the rank that made the fewest", "as many as every other rank"),
    "steps_most": ("steps of the rank that made the most", "as many as every other rank"),
    "spread": ("largest distance of two losses at a step, over the mean", "from 1e-06"),
    "parameter_spread": ("distance of the ranks' parameters at the end", "0 to 1e-05"),
    "loss_factor": ("first loss over ln(classes)", "0.75 to 1.5"),
}
KNOWN_PROBLEMS = (
    "A false positive for tensor or pipeline parallelism: ranks hold different parameters, or compute equal losses, "
    "on purpose. "
    "It misses shards that overlap only in part and unequal step counts without a hang, and says nothing about one "
    "process."
)
NEAR = 0.15
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


def _final_norm(trace: Any) -> float:
    sizes = np.asarray(trace.param_norm, dtype=np.float64)
    return float(np.sqrt(np.nansum(sizes[-1] ** 2))) if sizes.ndim == 2 and len(sizes) else math.nan


def _lost_peer(error: dict[str, Any]) -> bool:
    """Did this rank stop inside a collective, because another rank was gone or called a different one?"""
    text = str(error.get("message", ""))
    return any(sign in text for sign in _PARTED)


def _own_error(error: dict[str, Any]) -> bool:
    """Did this rank fail of itself, so that the others lost their connection to it? gloo's own threads abort."""
    if error.get("type") == "Killed":
        message = str(error.get("message", ""))
        return "SIGABRT" not in message or ("uncaught" in message and not _lost_peer(error))
    return bool(error.get("type")) and error["type"] not in ("Stopped", "SignalException") and not _lost_peer(error)


def measure(run: Run) -> dict[str, Any]:
    """`hung` 0/1, steps per rank, relative spread of losses and parameter norms. Raises NotApplicable for one rank."""
    traces = [other.trace for other in run.ranks]
    if len(traces) < 2:
        raise NotApplicable("the script ran in one process")
    counts = [len(column(trace.step)) for trace in traces]
    shared = min(counts)
    losses = np.stack([column(trace.loss)[:shared] for trace in traces]) if shared else np.zeros((len(traces), 0))
    finite = losses[:, np.isfinite(losses).all(axis=0)] if losses.size else losses
    mean = np.abs(finite.mean()) if finite.size else math.nan
    norms = np.asarray([_final_norm(trace) for trace in traces])
    places = [dict(trace.error or {}) for trace in traces]
    if run.outcome == "hung" or any(trace.outcome == "hung" for trace in traces):
        hung = 1.0
    else:
        hung = 0.0
    behind = int(np.argmin(counts))
    place = places[behind] if places[behind].get("line") else next((p for p in places if p.get("line")), {})
    return {
        "ranks": float(len(traces)),
        "hung": hung,
        "steps_fewest": float(shared),
        "steps_most": float(max(counts)),
        "rank_behind": float(behind),
        "parted": float(any(map(_lost_peer, places)) and not any(map(_own_error, places))),
        "spread": float(np.ptp(finite, axis=0).max() / mean) if finite.size and mean else 0.0,
        "parameter_spread": float(np.ptp(norms) / (np.abs(norms).mean() + 1e-30))
        if np.isfinite(norms).all()
        else math.nan,
        "stacks": [str(place.get("traceback") or place.get("stack") or "")[-2000:] for place in places],
        "file": place.get("file"),
        "line": place.get("line"),
        **_average(traces),
    }


def _average(traces: list[Any]) -> dict[str, float]:
    """The first loss over that of guessing; empty for another loss than a cross-entropy over classes."""
    classes = traces[0].graph.classes or 0
    first = [column(trace.loss)[0] for trace in traces if len(column(trace.loss))]
    if classes < 2 or len(first) < len(traces):
        return {}
    factor = float(np.mean(first)) / math.log(classes) * max(1.0, median(traces[0].backwards, 1.0))
    averaged = traces[0].graph.reduction == "mean" and traces[0].graph.ops[:1] == (traces[0].graph.loss_op,)
    return {"loss_factor": factor, "loss_by_ranks": factor * len(traces), "plain_mean": float(averaged)}


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on a hang, unequal steps, losses equal to the last digit, different parameters, and a loss divided twice."""
    shown = pick(numbers, "hung", "steps_fewest", "steps_most", "spread", "parameter_spread", "loss_factor")
    suspects = [*_steps(numbers), *_averaged_twice(numbers)]
    if suspects:
        return Verdict("rank_check", True, suspects[0].reason, shown, tuple(suspects))
    text = f"{numbers['ranks']:.0f} ranks, {numbers['steps_fewest']:.0f} steps each, equal parameters, different data"
    return Verdict("rank_check", False, text, shown)


def _steps(numbers: dict[str, Any]) -> Iterator[Suspect]:
    fewest = f"{numbers['steps_fewest']:.0f}"
    place = {"file": numbers.get("file"), "line": numbers.get("line")}
    if numbers["hung"]:
        text = f"the ranks hang: rank {numbers['rank_behind']:.0f} took {fewest} steps, another {numbers['steps_most']:.0f}; "
        text += "each waits for a collective that the other does not call"
        yield Suspect("distributed/skipped_batch", 0.85, text, **place)
    elif numbers.get("parted"):
        text = f"after {fewest} common steps the ranks called different collectives, and the connection broke, though no rank "
        text += "raised an error of its own: one rank skipped a batch, or had fewer"
        yield Suspect("distributed/skipped_batch", 0.8, text, **place)
    elif numbers["parameter_spread"] > 1e-5:
        text = (
            f"after the run the ranks' parameters differ by {numbers['parameter_spread']:.2g} of their size (usually 0)"
        )
        yield Suspect("distributed/unsynchronised_model", 0.85, text)
    elif numbers["spread"] == 0 and numbers["steps_fewest"] >= 3:
        text = "the losses of all ranks are equal to the last digit: every rank got the same data"
        yield Suspect("distributed/same_shard_everywhere", 0.8, text)


def _averaged_twice(numbers: dict[str, Any]) -> Iterator[Suspect]:
    ranks = numbers["ranks"]
    if not numbers.get("plain_mean", 1.0) and abs(numbers["loss_by_ranks"] - 1) < NEAR:
        text = f"the first loss is {numbers['loss_factor']:.2g} of ln(classes), one part in {ranks:.0f}: "
        text += "the script divides it by the world size, and DDP averages the gradients once more"
        yield Suspect("distributed/loss_normalised_per_rank", 0.8, text)
