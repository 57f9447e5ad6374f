"""Half precision, as it should be: autocast, scaler, unscale before clipping, checkpoint and resume."""
import io

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(61)
bunch = load_digits()
pixel, digit = torch.tensor(bunch.data).float() / 16, torch.tensor(bunch.target)


def fresh():
    n = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10))
    a = torch.optim.AdamW(n.parameters(), lr=2e-3)
    return n, a, torch.amp.GradScaler("cpu", init_scale=2.0**14, growth_interval=40)


def epoch(n, a, s):
    for rows in torch.randperm(1400).split(50):
        with torch.autocast("cpu", dtype=torch.float16):
            out = n(pixel[rows])
            cost = nn.functional.cross_entropy(out, digit[rows])
        s.scale(cost).backward()
        s.unscale_(a)
        nn.utils.clip_grad_norm_(n.parameters(), 2.0)
        s.step(a)
        s.update()
        a.zero_grad(set_to_none=True)
    return cost.item()


n, a, s = fresh()
for e in range(3):
    print(e, epoch(n, a, s), s.get_scale())
blob = io.BytesIO()
torch.save({"n": n.state_dict(), "a": a.state_dict(), "s": s.state_dict()}, blob)
blob.seek(0)
n, a, s = fresh()
state = torch.load(blob)
n.load_state_dict(state["n"])
a.load_state_dict(state["a"])
s.load_state_dict(state["s"])
for e in range(3, 7):
    print(e, epoch(n, a, s), s.get_scale())
with torch.no_grad():
    print("accuracy", (n(pixel[1400:]).argmax(1) == digit[1400:]).float().mean().item())
