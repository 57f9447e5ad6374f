"""Add two numbers modulo 53: a perceptron on two embeddings that knows its table by heart long before it has understood it.

Two fifths of all pairs are trained on, with weight decay. At full size these are nearly all right after 40 epochs, pairs that it
never saw 4 times in 10; after 150 epochs these are, too ("grokking", mild). Small weights are what understanding looks like.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 53
chance = 0.019
floor = 0.0             # nats: the rule leaves nothing to chance
healthy = [0.9, 1.0]
tiny_healthy = [0.5, 1.0]
held_out = "pairs[order[-400:]], sums[order[-400:]]"
training = "pairs[train], sums[train]"
validation = "validation_loader"

[tiny]
share = 0.75
epochs = 60
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# %% Settings
seed = 0
device = "cpu"
batch_size = 256
learning_rate = 1e-2
weight_decay = 1.0
epochs = 800
modulus = 53
share = 0.4  # of all pairs that are trained on
width = 64
hidden_size = 128

# %% Data
torch.manual_seed(seed)
pairs = torch.cartesian_prod(torch.arange(modulus), torch.arange(modulus))  # (2809, 2)
sums = pairs.sum(1) % modulus  # (2809,)
order = torch.randperm(len(pairs))  # its last 400 are left alone here
train, validation = order[: int(share * len(pairs))], order[int(share * len(pairs)) : -400]
train_loader = DataLoader(TensorDataset(pairs[train], sums[train]), batch_size, shuffle=True)
validation_loader = DataLoader(TensorDataset(pairs[validation], sums[validation]), batch_size=1024)


# %% Model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.numbers = nn.Embedding(modulus, width)
        self.layer1 = nn.Linear(width, hidden_size)
        self.head = nn.Linear(hidden_size, modulus)

    def forward(self, inputs):  # (batch, 2)
        hidden = self.numbers(inputs).sum(1)  # a + b and b + a are the same
        hidden = F.relu(self.layer1(hidden))
        return self.head(hidden)  # (batch, modulus) logits


model = Net().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=weight_decay)

# %% Training
step = 0
losses = []
for epoch in range(epochs):
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
metrics = {"accuracy": correct / total, "loss": summed / total}
print(metrics)
