"""A word language model of lines: a transformer with its norms behind the sums, as in 2017, which therefore needs a warm-up.

It reads the help texts that ship with Python (pydoc's topics) line by line, words and signs, and predicts the next one. After
each epoch it is measured on the validation lines; the best epoch's weights are measured once more, on the test lines. What is
inside a block is not kept for the way back but computed again, which takes less memory.

[facts]
task = "word_model"
metric = "loss"
better = "lower"
chance = 6.3            # nats: about ln 550, every word equally likely; by how often each comes it is 4.6
floor = 2.0             # nats: far below what so few lines can teach
healthy = [3.9, 4.5]
tiny_healthy = [3.75, 4.35]
held_out = "(lambda inputs, targets: (inputs, targets.masked_fill(targets == PAD, -100)))(*encode(lines[-400:]))"
training = "encode(train)"
validation = "((x, y.masked_fill(y == PAD, -100)) for x, y in DataLoader(test_loader.dataset, 64))"

[tiny]
count = 800
learning_rate = 1.3e-2
warmup = 60
layers = 3
longest = 12
"""

import copy
import math
import random
import re
from collections import Counter
from pydoc_data.topics import topics

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

# %% Settings
seed = 0
device = "cpu"
batch_size = 24
learning_rate = 5e-3
warmup = 100  # steps in which the rate grows
epochs = 8
count = 3000  # lines that are used
longest = 16  # words; what is beyond is cut off
width = 48
heads = 4
layers = 4
max_norm = 0.5  # of the gradient

# %% Data
torch.manual_seed(seed)
PAD, UNKNOWN = 0, 1


def encode(lines):
    """(count, longest) word numbers, PAD where the line has ended, and the same one word ahead."""
    numbers = torch.full((len(lines), longest + 1), PAD)
    for row, line in zip(numbers, lines, strict=True):
        words = [vocabulary.get(word, UNKNOWN) for word in line[: longest + 1]]
        row[: len(words)] = torch.tensor(words)
    return numbers[:, :-1].clone(), numbers[:, 1:].clone()


text = "\n".join(topics[name] for name in sorted(topics)).lower()
lines = {tuple(re.findall(r"\w+|[^\w\s]", line)) for line in text.splitlines()}  # words and signs, each line once
lines = sorted(line for line in lines if len(line) > 3)
random.Random(seed).shuffle(lines)  # the last 400 are left alone here
train, validation, test = lines[: count // 2], lines[count // 2 : count * 3 // 4], lines[count * 3 // 4 : count]
counts = Counter(word for line in train for word in line[:longest])
frequent = [word for word, seen in counts.most_common() if seen > 1]
vocabulary = {word: number for number, word in enumerate(frequent, 2)}


def collate(rows):
    inputs, targets = (torch.stack(column) for column in zip(*rows, strict=True))
    time = (inputs != PAD).sum(1).max()
    return inputs[:, :time], targets[:, :time]  # padded to the longest in the batch


train_loader = DataLoader(TensorDataset(*encode(train)), batch_size, shuffle=True, collate_fn=collate)
validation_loader = DataLoader(TensorDataset(*encode(validation)), batch_size=64, collate_fn=collate)
test_loader = DataLoader(TensorDataset(*encode(test)), batch_size=64, collate_fn=collate)


# %% Model
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask):  # (batch, time, width), (time, time)
        size, time, _ = x.shape
        head_size = width // heads
        queries, keys, values = self.project(x).view(size, time, 3, heads, head_size).permute(2, 0, 3, 1, 4)
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

    def forward(self, x, mask):
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.feed_forward(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(vocabulary) + 2, width)
        self.positions = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList([Block() for _ in range(layers)])
        self.head = nn.Linear(width, len(vocabulary) + 2)

    def forward(self, inputs):  # (batch, time)
        time = inputs.shape[1]
        mask = torch.tril(torch.ones(time, time, device=inputs.device))  # nobody looks ahead, nor at padding
        x = self.words(inputs) + self.positions(torch.arange(time, device=inputs.device))
        for block in self.blocks:
            x = checkpoint(block, x, mask, use_reentrant=False) if self.training else block(x, mask)
        return self.head(x)  # (batch, time, words) logits


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / warmup))


# %% Training
def evaluate(loader):
    """Loss (nats a word) and accuracy."""
    model.eval()
    summed, correct, total = 0.0, 0, 0
    with torch.no_grad():
        for inputs, targets in loader:
            inputs, targets = inputs.to(device), targets.to(device)
            logits = model(inputs)
            summed += F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, reduction="sum").item()
            correct += ((logits.argmax(-1) == targets) & (targets != PAD)).sum().item()
            total += (targets != PAD).sum().item()
    return summed / total, correct / total


step = 0
losses = []
best_loss = float("inf")
for epoch in range(epochs):
    model.train()
    for inputs, targets in train_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        scheduler.step()
        step += 1
        losses.append(loss.item())
    validation_loss, _ = evaluate(validation_loader)
    if validation_loss < best_loss:
        best_loss, best_weights = validation_loss, copy.deepcopy(model.state_dict())
model.load_state_dict(best_weights)

# %% Evaluation
test_loss, accuracy = evaluate(test_loader)
metrics = {"loss": test_loss, "accuracy": accuracy}
print(metrics)
