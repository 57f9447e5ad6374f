"""Diabetes after one year from ten measurements: regression, with the evaluation inside the epoch loop."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
features, target = (torch.tensor(part, dtype=torch.float32) for part in load_diabetes(return_X_y=True))
order = torch.randperm(len(features))
train, validation = order[:342], order[342:]
features = (features - features[train].mean(0)) / features[train].std(0)
target = ((target - target[train].mean()) / target[train].std()).unsqueeze(1)

loader = DataLoader(TensorDataset(features[train], target[train]), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)

for epoch in range(40):
    model.train()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        validation_loss = F.mse_loss(model(features[validation]), target[validation]).item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: validation loss {validation_loss:.3f}")

metrics = {"loss": validation_loss}
