"""Digits with one implicit layer z = relu(W z + U x + b), solved by iteration."""
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class ImplicitLayer(nn.Module):
    def __init__(self, d_in, d_state, max_iter=40, tol=1e-4, bound=0.8):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(d_state, d_state) / d_state ** 0.5)
        self.inject = nn.Linear(d_in, d_state)
        self.max_iter = max_iter
        self.tol = tol
        self.bound = bound
        self.last_iters = 0
        self.last_residual = float("nan")

    def contraction(self):
        norm = torch.linalg.matrix_norm(self.weight, ord=2)
        return self.weight * (self.bound / norm.clamp(min=self.bound))

    def f(self, z, u, w):
        return F.relu(z @ w.t() + u)

    def forward(self, x):
        w = self.contraction()
        u = self.inject(x)
        with torch.no_grad():
            z = torch.zeros_like(u)
            for i in range(self.max_iter):
                z_next = self.f(z, u, w)
                residual = (z_next - z).norm() / (z_next.norm() + 1e-8)
                z = z_next
                if residual < self.tol:
                    break
            self.last_iters = i + 1
            self.last_residual = residual.item()
        return self.f(z, u, w)


class Classifier(nn.Module):
    def __init__(self, d_in=64, d_state=96, classes=10):
        super().__init__()
        self.implicit = ImplicitLayer(d_in, d_state)
        self.norm = nn.LayerNorm(d_state)
        self.out = nn.Linear(d_state, classes)

    def forward(self, x):
        return self.out(self.norm(self.implicit(x)))


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
        return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    data = load_digits()
    x_tr, x_te, y_tr, y_te = train_test_split(
        data.data / 16.0, data.target, test_size=0.3, random_state=seed, stratify=data.target)
    x_tr, x_te = torch.tensor(x_tr, dtype=torch.float32), torch.tensor(x_te, dtype=torch.float32)
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    start = model.implicit.weight.detach().clone()
    for epoch in range(1, 41):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x_tr)).split(64):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x_tr[idx]), y_tr[idx])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        if epoch % 5 == 0:
            test_loss, test_acc = evaluate(model, x_te, y_te)
            moved = (model.implicit.weight.detach() - start).norm() / start.norm()
            print(f"epoch {epoch:2d} train {total / len(x_tr):.4f} test {test_loss:.4f} acc {test_acc:.4f} "
                  f"iters {model.implicit.last_iters} residual {model.implicit.last_residual:.1e} moved {moved:.3f}")
    print(f"test_loss={test_loss:.4f} test_acc={test_acc:.4f}")


if __name__ == "__main__":
    main()
