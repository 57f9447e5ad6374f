"""Do all ranks of a distributed run do the same number of steps with the same parameters on different data?

Collectives wait for every rank: one rank that skips a batch leaves the others waiting for ever. The rank with fewest
steps and the line where it stands tell which. Losses that are equal to the last digit on every rank mean that all got
the same data; parameters that drift apart mean that gradients are not averaged.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import Example
from bugzoo.diagnostics._tools import column, pick
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
    "steps_fewest": ("steps of the rank with fewest", "equal"),
    "steps_most": ("steps of the rank with most", "equal"),
    "spread": ("spread of the losses at one step", "above 0"),
    "parameter_spread": ("spread of the parameters at the end", "0"),
}
HEALTHY = Example(_SCRIPT, ranks=2)
SICK = Example(_SCRIPT.replace("dist.get_rank()", "0"), ranks=2)
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
    mean = np.abs(np.nanmean(losses)) if losses.size else math.nan
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
        "spread": float(np.nanmax(np.ptp(losses, axis=0)) / mean) if losses.size and mean else 0.0,
        "parameter_spread": float(np.ptp(norms) / (np.abs(norms).mean() + 1e-30))
        if np.isfinite(norms).all()
        else math.nan,
        "stacks": [str(place.get("traceback") or place.get("stack") or "")[-2000:] for place in places],
        "file": place.get("file"),
        "line": place.get("line"),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on a hang, on unequal steps, on losses equal to the last digit, and on parameters that differ."""
    shown = pick(numbers, "hung", "steps_fewest", "steps_most", "spread", "parameter_spread")
    place = {"file": numbers.get("file"), "line": numbers.get("line")}
    if numbers["hung"]:
        text = (
            f"the ranks stopped taking steps: rank {numbers['rank_behind']:.0f} did {numbers['steps_fewest']:.0f}, "
            f"another {numbers['steps_most']:.0f}; each waits for a collective that the other does not call"
        )
        return Verdict("rank_check", True, text, shown, (Suspect("distributed/skipped_batch", 0.85, text, **place),))
    if numbers.get("parted"):
        text = (
            f"after {numbers['steps_fewest']:.0f} common steps the ranks' collectives no longer belonged together and "
            "the connection broke, though no rank failed of itself: one of them left out a batch, or had fewer"
        )
        return Verdict("rank_check", True, text, shown, (Suspect("distributed/skipped_batch", 0.8, text, **place),))
    if numbers["parameter_spread"] > 1e-5:
        text = f"the ranks' parameters differ by {numbers['parameter_spread']:.2g} of their size after the run"
        return Verdict("rank_check", True, text, shown, (Suspect("distributed/unsynchronised_model", 0.85, text),))
    if numbers["spread"] == 0 and numbers["steps_fewest"] >= 3:
        text = "every rank had exactly the same losses: they all got the same data"
        return Verdict("rank_check", True, text, shown, (Suspect("distributed/same_shard_everywhere", 0.8, text),))
    text = f"{numbers['ranks']:.0f} ranks, {numbers['steps_fewest']:.0f} steps each, equal parameters, different data"
    return Verdict("rank_check", False, text, shown)
