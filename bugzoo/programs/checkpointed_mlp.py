"""Classify handwritten digits with a perceptron whose training can be stopped, and started again from a checkpoint.

With `stop_after = 3` it ends after three epochs and leaves a checkpoint in the folder in which it runs; whoever starts it there
again goes on from it. The images ship with scikit-learn: 1797 of them, 64 grey values each. The last 360 are left alone here.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 10
chance = 0.1
floor = 0.0             # nats: the digits can be told apart
healthy = [0.93, 1.0]
tiny_healthy = [0.85, 1.0]
runs = 2                # one that is not interrupted, and one that is
second = "resume"       # stopped half way, and started again
held_out = "images[1437:], labels[1437:]"
training = "images[train], labels[train]"
validation = "validation_loader"

[tiny]
epochs = 6
"""

from pathlib import Path

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# %% Settings
seed = 0
device = "cpu"
batch_size = 32
learning_rate = 2e-3
epochs = 20
hidden_size = 128
dropout = 0.2
stop_after = 0  # epochs, after which it stops with a checkpoint; 0 trains to the end
checkpoint = "checkpoint.pt"

# %% Data
torch.manual_seed(seed)
digits = load_digits()
images = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64), 0..1
labels = torch.tensor(digits.target)  # (1797,)
order = torch.randperm(1437)
train, validation = order[:1150], order[1150:]
train_loader = DataLoader(TensorDataset(images[train], labels[train]), batch_size, shuffle=True)
validation_loader = DataLoader(TensorDataset(images[validation], labels[validation]), batch_size=256)


# %% Model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(64, hidden_size)
        self.layer2 = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(hidden_size, 10)

    def forward(self, inputs):  # (batch, 64)
        hidden = F.relu(self.layer1(inputs))
        hidden = self.layer2(self.dropout(hidden))
        hidden = F.relu(hidden)
        return self.head(hidden)  # (batch, 10) logits


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)

# %% Training
step = 0
losses = []
finished = 0
if Path(checkpoint).exists():
    saved = torch.load(checkpoint)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    scheduler.load_state_dict(saved["scheduler"])
    torch.set_rng_state(saved["generator"])
    torch.cuda.set_rng_state_all(saved["gpu_generators"])  # dropout draws there; an empty list without a GPU
    step, finished = saved["step"], saved["finished"]
for epoch in range(epochs):
    if epoch < finished:
        continue
    model.train()
    for inputs, targets in train_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(logits, targets)
        loss.backward()
        optimizer.step()
        step += 1
        losses.append(loss.item())
    scheduler.step()
    if epoch + 1 == stop_after:
        saved = {"model": model.state_dict(), "step": step, "finished": stop_after}
        saved["optimizer"] = optimizer.state_dict()
        saved["scheduler"] = scheduler.state_dict()
        saved["generator"] = torch.get_rng_state()
        saved["gpu_generators"] = torch.cuda.get_rng_state_all()
        torch.save(saved, checkpoint)
        break

# %% Evaluation
model.eval()
correct, total, summed = 0, 0, 0.0
with torch.no_grad():
    for inputs, targets in validation_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        logits = model(inputs)
        summed += F.cross_entropy(logits, targets, reduction="sum").item()
        correct += (logits.argmax(-1) == targets).sum().item()
        total += len(targets)
metrics = {"accuracy": correct / total, "loss": summed / total}
print(metrics)
