"""Regression on a table, mini-batches cut by hand from tensors, no DataLoader, no variable named loss."""

import torch
from sklearn.datasets import load_diabetes

torch.manual_seed(1)
x, y = (torch.tensor(a, dtype=torch.float32) for a in load_diabetes(return_X_y=True))
y = ((y - y.mean()) / y.std())[:, None]
regressor = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
opt = torch.optim.RMSprop(regressor.parameters(), lr=2e-3)
curve = []
for sweep in range(25):
    for idx in torch.randperm(len(x)).split(50):
        opt.zero_grad()
        prediction = regressor(x[idx] * 20)
        objective = torch.nn.functional.mse_loss(prediction, y[idx])
        objective.backward()
        opt.step()
        curve.append(objective.item())
print(sum(curve[-9:]) / 9)
