"""Is the loss of several ranks averaged once?

The wrapper averages the gradients over the ranks, so that each rank's loss is the plain mean over its own batch: ln C before
any learning. Divided by the number of ranks in the script as well it begins at a part of that, and the gradient is as many times
too small; summed up over the ranks it is too large. `factor` is the first loss over ln C times the number of backward passes of
a step, and `by_ranks` that times the number of ranks: about 1 where it was divided once more.
"""

import math
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import Example
from bugzoo.diagnostics._tools import column, median, pick
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
SHOWN = {
    "factor": ("first loss over that of guessing, on the average of the ranks", "about 1"),
    "ranks": ("ranks", ""),
}
_SCRIPT = """\
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DistributedDataParallel(torch.nn.Linear(8, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(6):
    optimizer.zero_grad()
    loss = F.cross_entropy(0.1 * model(torch.randn(32, 8)), torch.randint(4, (32,)))
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
"""
HEALTHY = Example(_SCRIPT, ranks=2)
SICK = Example(
    _SCRIPT.replace("    loss.backward()", "    loss = loss / dist.get_world_size()\n    loss.backward()"), ranks=2
)
NEAR = 0.15


def measure(run: Run) -> dict[str, Any]:
    """Factors. Raises NotApplicable for one rank, and for another loss than a cross-entropy over classes."""
    traces = [other.trace for other in run.ranks]
    if len(traces) < 2:
        raise NotApplicable("the script ran in one process")
    classes = traces[0].graph.classes or 0
    first = [column(trace.loss)[0] for trace in traces if len(column(trace.loss))]
    if classes < 2 or len(first) < len(traces):
        raise NotApplicable("the loss is no cross-entropy over classes, or a rank made no step")
    backwards = max(1.0, median(traces[0].backwards, 1.0))
    factor = float(np.mean(first)) / math.log(classes) * backwards
    averaged = traces[0].graph.reduction == "mean" and traces[0].graph.ops[:1] == (traces[0].graph.loss_op,)
    return {
        "factor": factor,
        "ranks": float(len(traces)),
        "by_ranks": factor * len(traces),
        "plain": float(averaged),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires where a loss that is more than a plain mean begins at ln C divided by the number of ranks."""
    shown = pick(numbers, "factor", "ranks")
    ranks = numbers["ranks"]
    if not numbers["plain"] and abs(numbers["by_ranks"] - 1) < NEAR:
        text = f"the first loss is {numbers['factor']:.2g} of what guessing costs, one part in {ranks:.0f}: it is divided by the "
        text += "number of ranks, which the averaging of the gradients does once more"
        suspects = (Suspect("distributed/loss_normalised_per_rank", 0.8, text),)
        return Verdict("rank_average", True, text, shown, suspects)
    return Verdict("rank_average", False, f"the first loss is {numbers['factor']:.2g} of what guessing costs", shown)
