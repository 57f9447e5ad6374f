"""Classify digits with two processes that share the work: DistributedDataParallel, gloo on CPUs and nccl on GPUs.

Started by torch's own launcher, `torchrun --nproc-per-node 2`; started alone it calls that launcher itself.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 10
chance = 0.1
floor = 0.0             # nats: the digits can be told apart
ranks = 2
healthy = [0.93, 1.0]
tiny_healthy = [0.8, 1.0]

[tiny]
epochs = 6
"""

import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

# %% Settings
seed = 0
device = "cpu"
batch_size = 32
learning_rate = 2e-3
epochs = 15
ranks = 2
hidden_size = 128

if "RANK" not in os.environ:  # started alone: let torch start the ranks
    from torch.distributed.run import main

    os.environ.setdefault("OMP_NUM_THREADS", "1")
    local = ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]
    main([f"--nproc-per-node={ranks}", *local, __file__])
    sys.exit()

# %% Data
dist.init_process_group("nccl" if device == "cuda" else "gloo")
rank = dist.get_rank()
if device == "cuda":
    device = f"cuda:{rank % torch.cuda.device_count()}"
torch.manual_seed(seed)
digits = load_digits()
images = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64), 0..1
labels = torch.tensor(digits.target)  # (1797,)
order = torch.randperm(1437)  # the last 360 are left alone
train, validation = order[:1150], order[1150:]
train_set = TensorDataset(images[train], labels[train])
sampler = DistributedSampler(train_set, seed=seed)
train_loader = DataLoader(train_set, batch_size, sampler=sampler)
validation_loader = DataLoader(TensorDataset(images[validation], labels[validation]), batch_size=256)


# %% Model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(64, hidden_size)
        self.layer2 = nn.Linear(hidden_size, hidden_size)
        self.head = nn.Linear(hidden_size, 10)

    def forward(self, inputs):  # (batch, 64)
        hidden = F.relu(self.layer1(inputs))
        hidden = self.layer2(hidden)
        hidden = F.relu(hidden)
        return self.head(hidden)  # (batch, 10) logits


model = Net().to(device)
model = DistributedDataParallel(model)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

# %% Training
step = 0
losses = []
for epoch in range(epochs):
    model.train()
    sampler.set_epoch(epoch)
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
if rank == 0:
    print(metrics)
dist.destroy_process_group()
