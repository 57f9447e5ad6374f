"""Predict how far diabetes has gone on after a year, from ten measurements of a patient, with a three-layer perceptron.

The table ships with scikit-learn: 442 patients, age, sex, body mass index, blood pressure and six blood values each. The
last 88 are left alone here. Inputs and targets are brought to mean 0 and deviation 1 by what the training rows say.

[facts]
task = "regression"
metric = "r2"
better = "higher"
chance = 0.0            # of r2: the mean of the training rows for everybody
floor = 0.3             # mean squared error: half of the variance is in none of the ten columns
healthy = [0.25, 0.7]
tiny_healthy = [0.25, 0.7]
held_out = "rows[354:], values[354:]"
training = "rows[train], values[train]"
validation = "validation_loader"

[tiny]
epochs = 10
"""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_diabetes
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# %% Settings
seed = 0
device = "cpu"
batch_size = 16
learning_rate = 1e-3
epochs = 20
hidden_size = 32

# %% Data
torch.manual_seed(seed)
table = load_diabetes(scaled=False)
rows = torch.tensor(table.data, dtype=torch.float32)  # (442, 10), each column in its own unit
values = torch.tensor(table.target, dtype=torch.float32)  # (442,), 25..346
order = torch.randperm(354)
train, validation = order[:283], order[283:]
rows = (rows - rows[train].mean(0)) / rows[train].std(0)
values = (values - values[train].mean()) / values[train].std()
train_loader = DataLoader(TensorDataset(rows[train], values[train]), batch_size, shuffle=True)
validation_loader = DataLoader(TensorDataset(rows[validation], values[validation]), batch_size=256)


# %% Model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(10, hidden_size)
        self.layer2 = nn.Linear(hidden_size, hidden_size)
        self.head = nn.Linear(hidden_size, 1)

    def forward(self, inputs):  # (batch, 10)
        hidden = F.relu(self.layer1(inputs))
        hidden = self.layer2(hidden)
        hidden = F.relu(hidden)
        return self.head(hidden).squeeze(-1)  # (batch,), in deviations from the mean


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

# %% Training
step = 0
losses = []
for epoch in range(epochs):
    model.train()
    for inputs, targets in train_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        predictions = model(inputs)
        loss = F.mse_loss(predictions, targets)
        loss.backward()
        optimizer.step()
        step += 1
        losses.append(loss.item())

# %% Evaluation
model.eval()
total, summed, spread = 0, 0.0, 0.0
middle = values[validation].mean().item()
with torch.no_grad():
    for inputs, targets in validation_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        predictions = model(inputs)
        summed += F.mse_loss(predictions, targets, reduction="sum").item()
        spread += ((targets - middle) ** 2).sum().item()
        total += len(targets)
metrics = {"r2": 1 - summed / spread, "loss": summed / total}
print(metrics)
