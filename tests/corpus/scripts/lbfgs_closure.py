"""Logistic regression by L-BFGS: full batch, a closure that is called several times a step."""

import torch
from sklearn.datasets import load_iris

torch.manual_seed(0)
X, y = load_iris(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
X = (X - X.mean(0)) / X.std(0)
linear = torch.nn.Linear(4, 3)
solver = torch.optim.LBFGS(linear.parameters(), lr=0.5, max_iter=5)


def closure():
    solver.zero_grad()
    energy = torch.nn.functional.cross_entropy(linear(X), y) + 1e-3 * linear.weight.pow(2).sum()
    energy.backward()
    return energy


for _ in range(15):
    final = solver.step(closure)
print(final.item())
