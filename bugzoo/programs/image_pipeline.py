"""Classify enlarged digits that pass through a costly transform: where does the time of a step go?

Each image is enlarged to 256 x 256, blurred and reduced to 64 x 64: about 2 ms of work for an image, and no chance in it.
Three convolutions with a stride of 2 and a pooling bring the 64 x 64 grey values down to a sixteenth of the side, and a
linear layer names the digit.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 10
chance = 0.1
floor = 0.0             # nats: the digits can be told apart
healthy = [0.9, 1.0]
tiny_healthy = [0.6, 1.0]
held_out = "each(prepare, images[1437:]), labels[1437:]"
training = "each(prepare, images[train]), labels[train]"
validation = "validation_loader"

[tiny]
images_used = 320
epochs = 3
"""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

# %% Settings
seed = 0
device = "cpu"
batch_size = 32
learning_rate = 2e-3
epochs = 6
images_used = 1437  # of the first 1437; the last 360 are left alone
size = 64
num_workers = 0  # processes that fetch batches beside this one

# %% Data
torch.manual_seed(seed)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16  # (1797, 1, 8, 8), 0..1
labels = torch.tensor(digits.target)  # (1797,)
order = torch.randperm(1437)[:images_used]
train, validation = order[: images_used * 4 // 5], order[images_used * 4 // 5 :]
prepare = v2.Compose(
    [
        v2.Resize((4 * size, 4 * size), v2.InterpolationMode.BICUBIC),
        v2.GaussianBlur(11, sigma=3.0),
        v2.Resize((size, size), antialias=True),
        v2.Normalize([0.3], [0.35]),
    ]
)


class Digits(Dataset):
    def __init__(self, indices):
        self.indices = indices
        self.cache = {}

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, item):
        index = self.indices[item].item()
        if index not in self.cache:
            self.cache[index] = prepare(images[index])  # (1, size, size)
        return self.cache[index], labels[index]


train_set, validation_set = Digits(train), Digits(validation)
for dataset in (train_set, validation_set):
    for item in range(len(dataset)):
        dataset[item]  # fills the cache
train_loader = DataLoader(train_set, batch_size, shuffle=True, num_workers=num_workers)
validation_loader = DataLoader(validation_set, batch_size=64)


# %% Model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Conv2d(1, 16, 5, stride=2, padding=2)
        self.layer2 = nn.Conv2d(16, 32, 3, stride=2, padding=1)
        self.layer3 = nn.Conv2d(32, 32, 3, stride=2, padding=1)
        self.head = nn.Linear(32 * (size // 16) ** 2, 10)

    def forward(self, inputs):  # (batch, 1, size, size)
        hidden = F.relu(self.layer1(inputs))
        hidden = F.relu(self.layer2(hidden))
        hidden = F.max_pool2d(F.relu(self.layer3(hidden)), 2)  # (batch, 32, size / 16, size / 16)
        return self.head(hidden.flatten(1))  # (batch, 10) logits


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
