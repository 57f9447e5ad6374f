import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n_in, p=0.5):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(n_in, 64), nn.Linear(64, 64)])
        self.out = nn.Linear(64, 1)
        self.drop = nn.Dropout(p)

    def forward(self, v):
        for lay in self.layers:
            v = self.drop(torch.relu(lay(v)))
        return self.out(v).squeeze(-1)


class Experiment:
    def __init__(self, seed=2):
        torch.manual_seed(seed)
        w = torch.randn(16)
        self.x = torch.randn(1500, 16)
        self.y = torch.tanh(self.x @ w / 2) * 3 + 0.1 * torch.randn(1500)
        self.net = Net(16)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=2e-3)
        self.sched = torch.optim.lr_scheduler.ReduceLROnPlateau(self.opt, patience=3)
        self.best = float("inf")

    def fit_once(self):
        self.net.train()
        for rows in torch.randperm(1200).split(60):
            self.opt.zero_grad()
            huber = nn.functional.huber_loss(self.net(self.x[rows]), self.y[rows])
            huber.backward()
            self.opt.step()
        return huber.item()

    def score(self):
        with torch.inference_mode():
            return nn.functional.mse_loss(self.net(self.x[1200:]), self.y[1200:]).item()

    def go(self):
        for e in range(12):
            a, b = self.fit_once(), self.score()
            self.sched.step(b)
            self.best = min(self.best, b)
            print(e, f"train {a:.3f} held out {b:.3f}")
        print("same weights scored three times:", [round(self.score(), 4) for _ in range(3)])


Experiment().go()
