"""Optimisers and scalers that are not quite torch's own."""

from .support import run

LOOP = """
import torch
torch.manual_seed(0)
torch.optim.SGD([torch.zeros(1)])  # from now on torch's hooks run within SGD.step too, also for what inherits from it
class Careful(torch.optim.SGD):
    @torch.no_grad()
    def step(self, closure=None):
        torch.nn.utils.clip_grad_norm_([p for group in self.param_groups for p in group["params"]], 1.0)
        return super().step(closure)
net = torch.nn.Linear(4, 3)
opt = Careful(net.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", enabled={enabled})
record = []
for _ in range(20):
    off = net(torch.randn(6, 4)).pow(2).mean()
    opt.zero_grad()
    scaler.scale(off).backward()
    scaler.step(opt)
    scaler.update()
    record.append(off.item())
"""


def test_a_step_within_a_step_counts_once():
    names, trace = run(LOOP.format(enabled=False), "careful.py", watched=True)
    assert trace.loss.tolist() == names["record"] and trace.step.tolist() == list(range(1, 21))
    assert (trace.backwards == 1).all() and (trace.leftover == 0).all()


def test_a_scaler_that_is_switched_off_is_none():
    source = LOOP.format(enabled=False).replace('GradScaler("cpu"', 'GradScaler("cuda"')
    names, trace = run(source, "off.py", watched=True)
    assert trace.loss.tolist() == names["record"]


def test_the_same_with_the_scaler_on():
    _, trace = run(LOOP.format(enabled=True), "on.py", watched=True)
    assert len(trace.step) == 20 and (trace.scale == 65536).all()
