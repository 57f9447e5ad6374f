"""A warm-up that is over is no schedule that ran ahead of the training."""

import pytest

from bugzoo.diagnostics import instrument, read
from bugzoo.running import run_here

SCRIPT = """
import torch
torch.manual_seed(0)
x = torch.randn(64, 4)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.SCHEDULER
for step in range(40):
    optimizer.zero_grad()
    (net(x)[:, 0] - x[:, 0]).pow(2).mean().backward()
    optimizer.step()
    scheduler.step()
"""


@pytest.mark.parametrize(
    ("scheduler", "fires"),
    [("LinearLR(optimizer, 0.1, total_iters=10)", False), ("ConstantLR(optimizer, 0.5, total_iters=10)", False),
     ("PolynomialLR(optimizer, total_iters=10)", True), ("CosineAnnealingLR(optimizer, 10)", True)],
)  # fmt: skip
def test_only_a_plan_that_ends_can_be_over_too_early(scheduler, fires):
    run = run_here(SCRIPT.replace("SCHEDULER", scheduler), file="warm.py")
    verdict = instrument("learning_rate_log").judge(read("learning_rate_log", run).numbers)
    assert verdict.fired is fires, verdict.message
