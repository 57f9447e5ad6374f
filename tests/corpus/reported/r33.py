"""Mixture of experts with top-2 routing and a load-balancing term."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(70)
E, DIM = 4, 8
maps = torch.randn(E, DIM)
anchors = 2.5 * torch.randn(E, DIM)


def data(n):
    region = torch.randint(0, E, (n,))
    x = anchors[region] + torch.randn(n, DIM)
    return x, torch.sin((x - anchors[region]) @ maps[0]) + (x * maps[region]).sum(1) / 3


class MoE(nn.Module):
    def __init__(self, k=2):
        super().__init__()
        self.k = k
        self.gate = nn.Linear(DIM, E)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(DIM, 24), nn.GELU(), nn.Linear(24, 1)) for _ in range(E))

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        top, idx = probs.topk(self.k, -1)
        top = top / top.sum(-1, keepdim=True)
        out = x.new_zeros(len(x))
        for e, expert in enumerate(self.experts):
            rows, slot = torch.where(idx == e)
            if len(rows):
                out = out.index_add(0, rows, top[rows, slot] * expert(x[rows]).squeeze(-1))
        share = F.one_hot(idx[:, 0], E).float().mean(0)
        return out, E * (share.detach() * probs.mean(0)).sum()


model = MoE()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
vx, vy = data(500)
for step in range(1, 401):
    x, y = data(128)
    pred, balance = model(x)
    loss = F.mse_loss(pred, y) + 0.01 * balance
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        with torch.no_grad():
            pred, balance = model(vx)
        print(f"step {step} loss {loss.item():.3f} val R2 {1 - ((pred - vy) ** 2).mean() / vy.var():.3f} balance {balance:.3f}")
