"""Learn the digits 0 to 4, then teach the same network 5 to 9: a new head, the backbone frozen at first, then learning on slowly.

The images ship with scikit-learn: 1797 of them, 64 grey values each. The last 360 are left alone here. How
well the old digits are still known is measured at the end, with their own head.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 5
chance = 0.2
floor = 0.0             # nats: the digits can be told apart
healthy = [0.9, 1.0]
tiny_healthy = [0.85, 1.0]
held_out = "images[1437:][digits.target[1437:] >= 5], labels[1437:][digits.target[1437:] >= 5]"
training = "images[torch.cat([old, train])], labels[torch.cat([old, train])]"
validation = "validation_loader"

[tiny]
epochs = 20
pretraining = 6
frozen = 4
"""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# %% Settings
seed = 0
device = "cpu"
batch_size = 16
learning_rate = 5e-3
epochs = 40
pretraining = 12  # of them on the old digits
frozen = 8  # the next ones, in which the backbone stays as it is
slower = 0.1  # rate of what was learnt before, as a share
hidden_size = 128

# %% Data
torch.manual_seed(seed)
digits = load_digits()
images = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64), 0..1
labels = torch.tensor(digits.target) % 5  # (1797,), of the five old and of the five new digits
order = torch.randperm(1437)
old, new = (order[torch.tensor(digits.target)[order] // 5 == half] for half in (0, 1))
old, known = old.split([500, len(old) - 500])
train, validation = new[:400], new[400:]
old_loader = DataLoader(TensorDataset(images[old], labels[old]), batch_size, shuffle=True)
new_loader = DataLoader(TensorDataset(images[train], labels[train]), batch_size, shuffle=True)
validation_loader = DataLoader(TensorDataset(images[validation], labels[validation]), batch_size=256)


# %% Model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(64, hidden_size)
        self.layer2 = nn.Linear(hidden_size, hidden_size)
        self.head = nn.Linear(hidden_size, 5)

    def forward(self, inputs):  # (batch, 64)
        hidden = F.relu(self.layer1(inputs))
        hidden = self.layer2(hidden)
        hidden = F.relu(hidden)
        return self.head(hidden)  # (batch, 5) logits


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

# %% Training
step = 0
losses = []
backbone = [*model.layer1.parameters(), *model.layer2.parameters()]
old_head = model.head
for epoch in range(epochs):
    train_loader = old_loader if epoch < pretraining else new_loader
    if epoch == pretraining:  # the new digits: only a new head learns
        model.head = nn.Linear(hidden_size, 5).to(device)
        for parameter in backbone:
            parameter.requires_grad = False
        groups = [{"params": model.head.parameters()}, {"params": backbone, "lr": learning_rate * slower}]
        optimizer = torch.optim.Adam(groups, lr=learning_rate)
    if epoch == pretraining + frozen:
        for parameter in backbone:
            parameter.requires_grad = True
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
    model.head, new_head = old_head, model.head  # what is left of the old skill
    remembered = (model(images[known].to(device)).argmax(-1).cpu() == labels[known]).float().mean().item()
    model.head = new_head
metrics = {"accuracy": correct / total, "loss": summed / total, "old_accuracy": remembered}
print(metrics)
