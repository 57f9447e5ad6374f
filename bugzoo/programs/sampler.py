"""A character language model that writes: characters are sampled one by one, with a cache of the keys and values before them.

Trained as `mini_transformer` is, on the help texts that ship with Python. What it then writes behind the beginnings of texts is
read by the model in one piece: to the one who wrote it, it is about as likely as real text (`written`, nats a character).

[facts]
task = "language_model"
metric = "loss"
better = "lower"
classes = 96
chance = 4.564          # nats: ln 96, every character equally likely
floor = 1.0             # nats: far below what a model of this size can reach honestly
healthy = [1.2, 2.2]
tiny_healthy = [1.9, 2.75]
held_out = "batch(codes[len(codes) * 9 // 10 :], 300)"
training = "train_codes"
validation = "(batch(validation_codes, 64) for _ in range(10))"

[tiny]
steps = 120
batch_size = 16
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
steps = 1000
context = 32
width = 64
heads = 4
layers = 2
dropout = 0.1
prompt = 4  # characters that are given
more = 4  # that are written behind them

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

    def forward(self, x, cache):  # (batch, time, width), and the keys and values before it
        size, time, _ = x.shape
        head_size = width // heads
        queries, keys, values = self.project(x).view(size, time, 3, heads, head_size).permute(2, 0, 3, 1, 4)
        if cache is not None:
            if cache:
                keys, values = (torch.cat(both, 2) for both in zip(cache, (keys, values), strict=True))
            cache[:] = keys, values
        known = keys.shape[2]
        mask = self.mask[known - time : known, :known]
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(head_size)  # (batch, heads, time, known)
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

    def forward(self, x, cache):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.characters = nn.Embedding(96, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block() for _ in range(layers)])
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 96)

    def forward(self, inputs, caches=None):  # (batch, time)
        caches = [None] * layers if caches is None else caches
        start = caches[0][0].shape[2] if caches[0] else 0  # characters that the cache knows
        places = torch.arange(start, start + inputs.shape[1], device=inputs.device)
        hidden = self.dropout(self.characters(inputs) + self.positions(places))
        for block, cache in zip(self.blocks, caches, strict=True):
            hidden = block(hidden, cache)
        return self.head(self.norm(hidden))  # (batch, time, 96) logits


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

# %% Training
step = 0
losses = []
model.train()
for _ in range(steps):
    inputs, targets = batch(train_codes, batch_size)
    inputs, targets = inputs.to(device), targets.to(device)
    optimizer.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    step += 1
    losses.append(loss.item())


# %% Evaluation
@torch.no_grad()
def write(inputs, count):
    """(batch, time) characters and `count` more behind each row, drawn as the model thinks likely."""
    text = inputs
    caches = [[] for _ in range(layers)]
    for _ in range(count):
        logits = model(inputs, caches)[:, -1]
        inputs = torch.multinomial(logits.softmax(-1), 1)
        text = torch.cat([text, inputs], 1)
    return text


model.eval()
torch.manual_seed(seed + 1)
summed, correct, total = 0.0, 0, 0
with torch.no_grad():
    for _ in range(10):
        inputs, targets = batch(validation_codes, 64)
        inputs, targets = inputs.to(device), targets.to(device)
        logits = model(inputs)
        summed += F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum").item()
        correct += (logits.argmax(-1) == targets).sum().item()
        total += targets.numel()
    texts = [write(batch(validation_codes, 128)[0][:, :prompt].to(device), more) for _ in range(2)]
    logits = torch.cat([model(text[:, :-1])[:, prompt - 1 :] for text in texts])
    written = F.cross_entropy(logits.flatten(0, 1), torch.cat(texts)[:, prompt:].flatten()).item()
metrics = {"loss": summed / total, "accuracy": correct / total, "written": written}
print(metrics)
