"""The character language model of `mini_transformer` in mixed precision: float16 autocast with a gradient scaler.

The loss of a batch is divided by the tokens of one whole update, half a million as for the smallest GPT-3, of which
this process holds its share. Gradients are then about a thousand times smaller than for a batch on its own, and
float16 has fewer small numbers than float32.

[facts]
task = "language_model"
metric = "loss"
better = "lower"
classes = 96
chance = 4.564          # nats: ln 96, every character equally likely
floor = 1.0             # nats: far below what a model of this size can reach honestly
healthy = [1.2, 2.4]
tiny_healthy = [2.2, 3.0]
held_out = "batch(codes[len(codes) * 9 // 10 :], 300)"
training = "train_codes"
validation = "(batch(validation_codes, 64) for _ in range(10))"

[tiny]
steps = 60
batch_size = 8
"""

import math
from pydoc_data.topics import topics

import torch
import torch.nn.functional as F
from torch import nn

# %% Settings
seed = 0
device = "cpu"
batch_size = 32
learning_rate = 3e-3
steps = 400
context = 32
width = 64
heads = 4
layers = 2
tokens_per_update = 524_288

# %% Data
torch.manual_seed(seed)
text = "".join(topics[name] for name in sorted(topics))
text = "".join(character for character in text if character == "\n" or " " <= character <= "~")
codes = torch.tensor([0 if character == "\n" else ord(character) - 31 for character in text])  # 96 characters
train_codes, validation_codes = codes[: len(codes) * 8 // 10], codes[len(codes) * 8 // 10 : len(codes) * 9 // 10]


def batch(codes, size):
    starts = torch.randint(len(codes) - context - 1, (size,))
    windows = torch.stack([codes[start : start + context + 1] for start in starts.tolist()])
    return windows[:, :-1], windows[:, 1:]  # (batch, time) each, the second one character ahead


# %% Model
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.register_buffer("mask", torch.tril(torch.ones(context, context)))

    def forward(self, x):  # (batch, time, width)
        size, time, _ = x.shape
        head_size = width // heads
        queries, keys, values = self.project(x).view(size, time, 3, heads, head_size).permute(2, 0, 3, 1, 4)
        mask = self.mask[:time, :time]
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(head_size)  # (batch, heads, time, time)
        scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        attended = weights @ values
        return self.out(attended.transpose(1, 2).reshape(size, time, width))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention()
        self.feed_forward = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.characters = nn.Embedding(96, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 96)

    def forward(self, inputs):  # (batch, time)
        places = torch.arange(inputs.shape[1], device=inputs.device)
        hidden = self.blocks(self.characters(inputs) + self.positions(places))
        return self.head(self.norm(hidden))  # (batch, time, 96) logits


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate, eps=1e-15)
scaler = torch.amp.GradScaler(device)

# %% Training
step = 0
losses = []
model.train()
for _ in range(steps):
    inputs, targets = batch(train_codes, batch_size)
    inputs, targets = inputs.to(device), targets.to(device)
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.float16):
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum") / tokens_per_update
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    step += 1
    losses.append(loss.item() * tokens_per_update / targets.numel())  # nats per character

# %% Evaluation
model.eval()
torch.manual_seed(seed + 1)
summed, correct, total = 0.0, 0, 0
with torch.no_grad():
    for _ in range(10):
        inputs, targets = batch(validation_codes, 64)
        inputs, targets = inputs.to(device), targets.to(device)
        with torch.autocast(device, dtype=torch.float16):
            logits = model(inputs)
        summed += F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), reduction="sum").item()
        correct += (logits.argmax(-1) == targets).sum().item()
        total += targets.numel()
metrics = {"loss": summed / total, "accuracy": correct / total}
print(metrics)
