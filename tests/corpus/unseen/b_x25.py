"""Regression of diabetes progression with a small network, the old-fashioned way."""
import torch
from sklearn.datasets import load_diabetes

torch.manual_seed(99)
bunch = load_diabetes()
inputs = torch.tensor(bunch.data, dtype=torch.float32) * 20
goal = torch.tensor(bunch.target, dtype=torch.float32).view(-1, 1)
goal = (goal - goal[:340].mean()) / goal[:340].std()

regressor = torch.nn.Sequential(torch.nn.Linear(10, 24), torch.nn.ReLU(), torch.nn.Linear(24, 1))
adam = torch.optim.Adam(regressor.parameters(), lr=5e-3, weight_decay=1e-3)

cursor = 0
shuffled = torch.randperm(340)
k = 0
while k < 250:
    if cursor + 34 > 340:
        cursor, shuffled = 0, torch.randperm(340)
    rows = shuffled[cursor:cursor + 34]
    cursor += 34
    residual = regressor(inputs[rows]) - goal[rows]
    mse = residual.pow(2).mean()
    mse.backward()
    adam.step()
    k += 1
    if k % 50 == 0:
        with torch.no_grad():
            print(k, "train", mse.item(), "test", (regressor(inputs[340:]) - goal[340:]).pow(2).mean().item())
