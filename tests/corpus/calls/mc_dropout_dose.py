"""Dose prediction with an uncertainty: the dropout layers stay active at test time and 40 passes are averaged."""
import argparse

import torch
from sklearn.datasets import load_diabetes
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=8)
parser.add_argument("--epochs", type=int, default=120)
parser.add_argument("--passes", type=int, default=40)
parser.add_argument("--p", type=float, default=0.15)
args = parser.parse_args()
torch.manual_seed(args.seed)


class DoseNet(nn.Module):
    def __init__(self, n_in, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_in, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(args.p),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(args.p),
            nn.Linear(width, 2),
        )

    def forward(self, x):
        mean, log_var = self.net(x).unbind(1)
        return mean, log_var.clamp(-6, 4)


def nll(mean, log_var, y):
    return (0.5 * (log_var + (y - mean) ** 2 / log_var.exp())).mean()


def keep_dropout(model):
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


@torch.no_grad()
def predict(model, x):
    keep_dropout(model)
    means, variances = [], []
    for _ in range(args.passes):
        m, lv = model(x)
        means.append(m)
        variances.append(lv.exp())
    means, variances = torch.stack(means), torch.stack(variances)
    return means.mean(0), (means.var(0) + variances.mean(0)).sqrt()


def data():
    base = load_diabetes()
    x = torch.tensor(base.data, dtype=torch.float32)
    x = (x - x.mean(0)) / x.std(0)
    x = x.repeat(6, 1) + 0.3 * torch.randn(6 * len(x), x.size(1))
    y = torch.sin(x[:, 2]) + 0.5 * x[:, 8] * x[:, 3].tanh() - 0.4 * x[:, 1]
    y = y + (0.1 + 0.2 * torch.sigmoid(x[:, 0])) * torch.randn(len(y))
    y = (y - y.mean()) / y.std()
    order = torch.randperm(len(x))
    return x[order[:2100]], y[order[:2100]], x[order[2100:]], y[order[2100:]]


def main():
    x_tr, y_tr, x_te, y_te = data()
    model = DoseNet(x_tr.size(1))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x_tr)).split(100):
            loss = nll(*model(x_tr[idx]), y_tr[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        if epoch % 20 == 0:
            mean, std = predict(model, x_te)
            r2 = 1 - ((mean - y_te) ** 2).sum() / ((y_te - y_te.mean()) ** 2).sum()
            inside = ((mean - y_te).abs() < 1.64 * std).float().mean()
            print(f"epoch {epoch:3d} train nll {total / len(x_tr):.3f} test R2 {r2:.3f} inside the 90% band {inside:.3f}")


if __name__ == "__main__":
    main()
