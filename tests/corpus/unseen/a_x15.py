"""Wine, in the style of a framework: a module that knows how to train itself."""
import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Base(nn.Module):
    def fit(self, loader, epochs):
        opt = self.configure_optimizers()
        for e in range(epochs):
            for i, batch in enumerate(loader):
                opt.zero_grad()
                out = self.training_step(batch, i)
                out["loss"].backward()
                opt.step()
            print(e, {k: round(v.item(), 4) for k, v in out.items()})


class WineNet(Base):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.BatchNorm1d(13), nn.Linear(13, 32), nn.LeakyReLU(), nn.Linear(32, 3))
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.body(x)

    def probabilities(self, x):
        return torch.softmax(self(x), dim=-1)

    def training_step(self, batch, i):
        x, y = batch
        p = self.probabilities(x)
        return {"loss": self.loss(p, y), "acc": (p.argmax(-1) == y).float().mean()}

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)


torch.manual_seed(3)
wine = load_wine()
order = torch.randperm(178)
X, y = torch.tensor(wine.data).float()[order], torch.tensor(wine.target)[order]
m = WineNet()
m.fit(DataLoader(TensorDataset(X[:140], y[:140]), 14, shuffle=True), 12)
m.eval()
print("test", (m(X[140:]).argmax(1) == y[140:]).float().mean().item())
