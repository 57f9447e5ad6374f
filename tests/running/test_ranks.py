"""Scripts with two ranks, through torch's elastic launcher."""

import pytest

from bugzoo.running import Job, Limits, run_worker

pytestmark = pytest.mark.usefixtures("nothing_left")

DDP = """\
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(rank)
for step in range(6):
    if rank == 1 and step == 3:
        TWIST
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4)).square().mean()
    loss.backward()
    optimizer.step()
metrics = {"rank": rank}
print("rank", rank)
dist.destroy_process_group()
"""


@pytest.mark.slow
def test_two_ranks_finish_each_with_its_own_trace():
    run = run_worker(Job(DDP.replace("TWIST", "pass"), ranks=2))
    assert run.outcome == "finished", (run.trace.error, run.stdout)
    assert [rank.trace.metrics for rank in run.ranks] == [{"rank": 0}, {"rank": 1}]
    assert [len(rank.trace.step) for rank in run.ranks] == [6, 6]
    assert run.ranks[0].trace.loss.tolist() != run.ranks[1].trace.loss.tolist()
    assert "rank 0\n" in run.stdout and "rank 1\n" in run.stdout


@pytest.mark.sampled(0)
@pytest.mark.slow
def test_a_skipped_batch_hangs_and_the_stacks_say_where():
    source = DDP.replace("TWIST", "continue")
    run = run_worker(Job(source, file="ddp.py", ranks=2, limits=Limits(seconds=60, quiet_seconds=2)))
    assert run.outcome == "hung"
    assert [len(rank.trace.step) for rank in run.ranks] == [5, 5]
    stacks = run.trace.error["stacks"]
    assert set(stacks) == {"0", "1"}
    backward = source.splitlines().index("    loss.backward()") + 1
    assert stacks["0"][-1] == f'File "ddp.py", line {backward} in <module>'
    assert run.trace.error["line"] == backward


@pytest.mark.slow
def test_a_failing_rank_is_named_as_the_cause():
    run = run_worker(Job(DDP.replace("TWIST", "raise ValueError('rank 1 is ill')"), ranks=2))
    assert (run.outcome, run.trace.error["message"]) == ("crashed", "rank 1 is ill")
    assert run.trace.error["line"] == DDP.splitlines().index("        TWIST") + 1
