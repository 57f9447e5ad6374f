"""Ranks whose collectives no longer belong together: told apart from a rank that fails of itself."""

import pytest

from bugzoo.diagnostics import rank_check
from bugzoo.diagnostics.checkup import checkup
from bugzoo.running.endings import from_exit
from bugzoo.running.result import Run
from bugzoo.watching.trace import Trace
from tests.sampling import only_in_prove

SCRIPT = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(rank)
net = DistributedDataParallel(torch.nn.Linear(40, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for batch in range(30):
    x = torch.randn(8, 40)
    if rank == 1 and batch == 12:
        TWIST
    opt.zero_grad()
    off = net(x).pow(2).mean()
    off.backward()
    opt.step()
total = off.detach().reshape(1).clone()
dist.all_reduce(total)
print(total.item())
dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("twist", "cause"),
    [("continue", "distributed/skipped_batch"), ("raise ValueError('bad batch')", None), only_in_prove("pass", None)],
)
def test_a_batch_that_one_rank_leaves_out(tmp_path, twist, cause):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.replace("TWIST", twist))
    report = checkup(path, ranks=2)
    assert [s.cause for s in report.suspects] == ([cause] if cause else [])
    if cause:
        assert report.suspects[0].line == SCRIPT.splitlines().index("        TWIST") + 1
    assert report.outcome == ("nothing" if twist == "pass" else "found" if cause else "unjudged")


MISMATCH = (
    "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n"
    "  what():  [enforce fail at gloo/transport/tcp/pair.cc:464] op.preamble.length <= op.nbytes. 44 vs 4.\n"
)
OWN = "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::at\n"


@pytest.mark.parametrize(("printed", "parted"), [(MISMATCH, True), (OWN, False), ("", False)])
def test_a_rank_that_aborted_while_the_other_was_ended(printed, parted):
    """On a busy machine the launcher ends the other rank before that one can say what it saw."""
    aborted, ended = Trace(), Trace()
    aborted.outcome, aborted.error = from_exit(-6, printed)
    ended.outcome, ended.error = "stopped", {"type": "Stopped", "message": "ended with the other ranks"}
    ranks = [Run(trace, SCRIPT, "train.py", seconds=1.0) for trace in (ended, aborted)]
    run = Run(aborted, SCRIPT, "train.py", seconds=1.0, ranks=ranks)
    assert rank_check.measure(run)["parted"] == float(parted)
