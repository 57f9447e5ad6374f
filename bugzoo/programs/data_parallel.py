"""The digits perceptron on two processes: each rank trains on its half of every batch, DDP averages the gradients.

Started alone it calls torch's own launcher for two copies of itself; `torchrun --nproc-per-node 2 data_parallel.py` is
the same. gloo on the CPU; on CUDA nccl where every rank has a device of its own, else gloo. With `sharded = True` it is FSDP:
no rank holds a whole parameter, they are gathered for each forward and backward pass.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 10
chance = 0.1
floor = 0.0             # nats: the digits can be told apart
ranks = 2
healthy = [0.93, 1.0]
tiny_healthy = [0.85, 1.0]
held_out = "images[1437:], labels[1437:]"
training = "images[train], labels[train]"
validation = "validation_loader"

[tiny]
epochs = 6
"""

import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.run import main as torchrun
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

# %% Settings
seed = 0
device = "cpu"
batch_size = 16  # on each rank
learning_rate = 1e-3
epochs = 20
hidden_size = 128
ranks = 2
sharded = False

# %% Ranks
if "RANK" not in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    here = ["--rdzv-backend=c10d", "--rdzv-endpoint=127.0.0.1:0", "--local-addr=127.0.0.1"]  # any free port
    torchrun([f"--nproc-per-node={ranks}", *here, __file__])  # comes back when every rank has ended
    raise SystemExit
rank, local_rank = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
alone = device == "cuda" and torch.cuda.device_count() >= int(os.environ["LOCAL_WORLD_SIZE"])  # a device each
if device == "cuda":
    torch.cuda.set_device(local_rank % torch.cuda.device_count())
dist.init_process_group("nccl" if alone else "gloo")

# %% Data
torch.manual_seed(seed)
digits = load_digits()
images = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64), 0..1
labels = torch.tensor(digits.target)  # (1797,)
order = torch.randperm(1437)  # the same on every rank
train, validation = order[:1150], order[1150:]
sampler = DistributedSampler(train, shuffle=True, seed=seed)  # deals every rank its own half
train_loader = DataLoader(TensorDataset(images[train], labels[train]), batch_size, sampler=sampler)
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
if sharded:
    fully_shard(model, mesh=init_device_mesh(device, (dist.get_world_size(),)))
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
if not sharded:
    model = DistributedDataParallel(model)

# %% Training
step = 0
losses = []
for epoch in range(epochs):
    sampler.set_epoch(epoch)  # another order in every epoch
    model.train()
    for inputs, targets in train_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(logits, targets)
        loss.backward()  # ends when the gradients of all ranks have been averaged
        optimizer.step()
        step += 1
        losses.append(loss.item())

# %% Evaluation
model.eval()
correct, total, summed = 0, 0, 0.0
with torch.no_grad():
    for inputs, targets in validation_loader:  # every rank sees all of it and must find the same
        inputs, targets = inputs.to(device), targets.to(device)
        logits = model(inputs)
        summed += F.cross_entropy(logits, targets, reduction="sum").item()
        correct += (logits.argmax(-1) == targets).sum().item()
        total += len(targets)
metrics = {"accuracy": correct / total, "loss": summed / total}
if rank == 0:
    print(metrics)
dist.destroy_process_group()
