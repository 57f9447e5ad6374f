"""Ranks whose collectives no longer belong together: told apart from a rank that fails of itself."""

import pytest

from bugzoo.diagnostics.checkup import checkup

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
    [("continue", "distributed/skipped_batch"), ("raise ValueError('bad batch')", None), ("pass", None)],
)
def test_a_batch_that_one_rank_leaves_out(tmp_path, twist, cause):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT.replace("TWIST", twist))
    found = checkup(path, ranks=2)
    assert [s.cause for s in found.suspects] == ([cause] if cause else [])
    if cause:
        assert found.suspects[0].line == SCRIPT.splitlines().index("        TWIST") + 1
    assert found.outcome == ("nothing" if twist == "pass" else "found" if cause else "unjudged")
