"""Point-cloud style set classifier with a sklearn-like fit method."""
import torch
from torch import nn


class PointNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.local = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 96), nn.ReLU())
        self.glob = nn.Sequential(nn.Linear(96, 48), nn.ReLU(), nn.Linear(48, classes))

    def forward(self, pts):
        return self.glob(self.local(pts).amax(1))


class NeuralNet:
    def __init__(self, module, lr=2e-3, max_epochs=6, batch_size=40):
        self.module_ = module
        self.optimizer_ = torch.optim.Adam(module.parameters(), lr=lr)
        self.criterion_ = nn.CrossEntropyLoss()
        self.max_epochs, self.batch_size = max_epochs, batch_size
        self.history_ = []

    def train_step(self, xi, yi):
        self.module_.train()
        self.optimizer_.zero_grad()
        loss = self.criterion_(self.module_(xi), yi)
        loss.backward()
        self.optimizer_.step()
        return loss.item()

    def validation_step(self, xi, yi):
        self.module_.eval()
        y_pred = self.module_(xi)
        return {"y_pred": y_pred, "loss": self.criterion_(y_pred, yi)}

    def fit(self, x, y, x_val, y_val):
        for epoch in range(self.max_epochs):
            losses = [self.train_step(x[r], y[r]) for r in torch.randperm(len(x)).split(self.batch_size)]
            outs = [self.validation_step(a, b) for a, b in zip(x_val.split(40), y_val.split(40))]
            self.history_.append({"train_loss": sum(losses) / len(losses), "valid": outs})
            pred = torch.cat([o["y_pred"] for o in outs]).argmax(1)
            vl = sum(o["loss"] for o in outs) / len(outs)
            print(f"{epoch} train {self.history_[-1]['train_loss']:.3f} valid {vl:.3f} acc {(pred == y_val).float().mean():.3f}")
        return self


def shapes(n, g):
    y = torch.randint(0, 4, (n,), generator=g)
    p = torch.randn(n, 32, 3, generator=g)
    sphere = p / p.norm(dim=2, keepdim=True)
    cube = p.clamp(-1, 1)
    line = torch.stack([p[..., 0], 0.1 * p[..., 1], 0.1 * p[..., 2]], 2)
    disc = torch.stack([p[..., 0], p[..., 1], 0.1 * p[..., 2]], 2)
    return torch.stack([sphere, cube, line, disc], 1)[torch.arange(n), y], y


torch.manual_seed(2)
gen = torch.Generator().manual_seed(9)
x, y = shapes(1000, gen)
xv, yv = shapes(400, gen)
NeuralNet(PointNet()).fit(x, y, xv, yv)
