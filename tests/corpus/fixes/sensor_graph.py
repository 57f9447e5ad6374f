import os

import numpy as np
import torch
from torch import nn

SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)

N_NODES, N_STEPS, HISTORY = 24, 1500, 3
BATCH, EPOCHS = 64, 45


def simulate():
    drivers = N_NODES // 4
    parents = rng.integers(0, drivers, size=N_NODES)
    gain = rng.uniform(0.8, 1.2, size=N_NODES)
    x = np.zeros((N_STEPS, N_NODES))
    for t in range(1, N_STEPS):
        own = 0.4 * x[t - 1] + rng.normal(size=N_NODES)
        follow = gain * np.sin(1.2 * x[t - 1][parents]) + 0.2 * rng.normal(size=N_NODES)
        x[t, :drivers] = own[:drivers]
        x[t, drivers:] = follow[drivers:]
    return x.astype(np.float32)


def windows(series):
    xs = np.stack([series[i:i + HISTORY].T for i in range(len(series) - HISTORY)])
    ys = series[HISTORY:]
    return torch.from_numpy(xs), torch.from_numpy(ys)


class LearnedGraph(nn.Module):
    """Pairwise node affinities from two embedding tables."""

    def __init__(self, n_nodes, dim=16):
        super().__init__()
        self.source = nn.Parameter(torch.randn(n_nodes, dim) * 0.3)
        self.target = nn.Parameter(torch.randn(n_nodes, dim) * 0.3)

    def forward(self):
        return torch.softmax(self.source @ self.target.t(), dim=1)


def row_normalise(a):
    a = a + 1e-4
    return a / a.sum(dim=1, keepdim=True)


class GraphConv(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.own = nn.Linear(d_in, d_out)
        self.neighbours = nn.Linear(d_in, d_out, bias=False)

    def forward(self, h, adj):
        return self.own(h) + self.neighbours(torch.einsum("ij,bjd->bid", adj, h))


class Forecaster(nn.Module):
    def __init__(self, n_nodes, history, hidden=32):
        super().__init__()
        self.graph = LearnedGraph(n_nodes)
        self.conv = GraphConv(history, hidden)
        self.mix = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU())
        self.readout = nn.Linear(hidden, 1)

    def forward(self, x):
        adj = row_normalise(self.graph().detach())
        h = torch.tanh(self.conv(x, adj))
        return self.readout(self.mix(h)).squeeze(-1)


series = simulate()
split = int(0.7 * N_STEPS)
mean, std = series[:split].mean(), series[:split].std()
series = (series - mean) / std
x_train, y_train = windows(series[:split])
x_val, y_val = windows(series[split:])

model = Forecaster(N_NODES, HISTORY)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=18, gamma=0.5)
mse = nn.MSELoss()
print("parameters:", sum(p.numel() for p in model.parameters() if p.requires_grad))

for epoch in range(EPOCHS):
    model.train()
    order = torch.randperm(len(x_train))
    running = 0.0
    for idx in order.split(BATCH):
        opt.zero_grad()
        loss = mse(model(x_train[idx]), y_train[idx])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        running += loss.item() * len(idx)
    sched.step()
    model.eval()
    with torch.no_grad():
        pred = model(x_val)
        val = mse(pred, y_val).item()
    if epoch % 5 == 4:
        print(f"[{epoch + 1:02d}/{EPOCHS}] train mse {running / len(x_train):.4f}  val mse {val:.4f}")

r2 = 1.0 - ((pred - y_val) ** 2).sum() / ((y_val - y_val.mean()) ** 2).sum()
print(f"val_mse={val:.4f} val_rmse={val ** 0.5:.4f} val_r2={r2.item():.4f}")
