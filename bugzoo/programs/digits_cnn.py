"""Classify handwritten digits with a small convolutional network: BatchNorm, Dropout and augmentation.

The images ship with scikit-learn: 1797 of them, 8 x 8 grey values. The last 360 are left alone here.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 10
chance = 0.1
floor = 0.0             # nats: the digits can be told apart
healthy = [0.92, 1.0]
tiny_healthy = [0.88, 1.0]
held_out = "normalise(images[1437:]), labels[1437:]"
training = "normalise(shifted(images[train])), labels[train].repeat(9)"
validation = "((normalise(inputs), targets) for inputs, targets in validation_loader)"

[tiny]
epochs = 5
"""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchvision.transforms import v2

# %% Settings
seed = 0
device = "cpu"
batch_size = 32
learning_rate = 2e-3
epochs = 20
dropout = 0.4

# %% Data
torch.manual_seed(seed)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16  # (1797, 1, 8, 8), 0..1
labels = torch.tensor(digits.target)  # (1797,)
order = torch.randperm(1437)
train, validation = order[:1150], order[1150:]
mean, std = images[train].mean(), images[train].std()
augment = v2.RandomCrop(8, padding=1)  # moves the whole batch by up to a pixel
normalise = v2.Normalize([mean.item()], [std.item()])
train_loader = DataLoader(TensorDataset(images[train], labels[train]), batch_size, shuffle=True)
validation_loader = DataLoader(TensorDataset(images[validation], labels[validation]), batch_size=32)


# %% Model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Conv2d(1, 16, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.layer2 = nn.Conv2d(16, 32, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(32)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(32 * 2 * 2, 10)

    def forward(self, inputs):  # (batch, 1, 8, 8)
        hidden = F.max_pool2d(F.relu(self.norm1(self.layer1(inputs))), 2)  # (batch, 16, 4, 4)
        hidden = F.max_pool2d(F.relu(self.norm2(self.layer2(hidden))), 2)  # (batch, 32, 2, 2)
        return self.head(self.dropout(hidden.flatten(1)))  # (batch, 10) logits


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

# %% Training
step = 0
losses = []
for epoch in range(epochs):
    model.train()
    for inputs, targets in train_loader:
        inputs, targets = normalise(augment(inputs)).to(device), targets.to(device)
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
        inputs, targets = normalise(inputs).to(device), targets.to(device)
        logits = model(inputs)
        summed += F.cross_entropy(logits, targets, reduction="sum").item()
        correct += (logits.argmax(-1) == targets).sum().item()
        total += len(targets)
metrics = {"accuracy": correct / total, "loss": summed / total}
print(metrics)
