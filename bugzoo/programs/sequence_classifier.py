"""Tell whether a film review is favourable with a small attention encoder and a padding mask.

Reviews are generated as in `sentiment_lstm` (same generator): 5 to 60 words, padded to the longest of their batch, so
that padding really varies. One label in twenty is flipped: nobody can be right more often than 0.95.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 2
chance = 0.5
floor = 0.199           # nats: the entropy of one flipped label in twenty
bayes = 0.95
healthy = [0.82, 0.97]
tiny_healthy = [0.7, 0.97]

[tiny]
reviews = 1600
epochs = 4
"""

import math
import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

# %% Settings
seed = 0
device = "cpu"
batch_size = 32
learning_rate = 3e-3
epochs = 6
reviews = 5000
width = 48
heads = 2

# %% Data
torch.manual_seed(seed)
GOOD = "good great fine lovely clever moving funny brilliant charming superb fresh gripping".split()
BAD = "bad poor weak dull clumsy boring flat awful tired dreadful stale tedious".split()
PARTS = "plot acting script music cast pacing ending dialogue camera hero".split()
FILLER = "we saw it on a rainy evening with friends and the hall was half full".split()


def review(rng):
    """One review and its label: (words, 0 or 1)."""
    words, score, weight = [], 0.0, 1.0
    clauses = rng.randint(1, 8)
    for index in range(clauses):
        if index and rng.random() < 0.25:
            words.append("but")
            score, weight = score * 0.5, 2.0
        elif index:
            words.append("and")
        favourable = rng.random() < 0.5
        words += ["the", rng.choice(PARTS), "was"]
        strength = weight
        if rng.random() < 0.3:  # "not dull" is favourable
            words.append("not")
            words.append(rng.choice(BAD if favourable else GOOD))
        else:
            if rng.random() < 0.3:
                words.append("very")
                strength *= 2
            words.append(rng.choice(GOOD if favourable else BAD))
        if rng.random() < 0.15:
            words.append(f"rare{rng.randint(0, 400)}")
        score += strength if favourable else -strength
    if score == 0:
        return review(rng)
    spare = 60 - len(words)
    if rng.random() < 0.4 and spare > 0:
        start = rng.randint(0, 5)
        words = FILLER[start : start + min(spare, rng.randint(2, 9))] + words
    label = int(score > 0)
    return words[:60], label if rng.random() < 0.95 else 1 - label


rng = random.Random(seed)
pairs = [review(rng) for _ in range(reviews)]
rng.shuffle(pairs)
train, validation = pairs[: len(pairs) * 4 // 5], pairs[len(pairs) * 4 // 5 :]
counts = {}
for words, _ in train:
    for word in words:
        counts[word] = counts.get(word, 0) + 1
vocabulary = {"<pad>": 0, "<unknown>": 1}
for word in sorted(counts):
    if counts[word] >= 2:
        vocabulary[word] = len(vocabulary)


def collate(pairs):
    """(inputs (batch, time), lengths (batch,)), targets (batch,)"""
    rows = [torch.tensor([vocabulary.get(word, 1) for word in words]) for words, _ in pairs]
    lengths = torch.tensor([len(row) for row in rows])
    targets = torch.tensor([label for _, label in pairs])
    return pad_sequence(rows, batch_first=True), lengths, targets


train_loader = DataLoader(train, batch_size, shuffle=True, collate_fn=collate)
validation_loader = DataLoader(validation, batch_size=128, collate_fn=collate)


# %% Model
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, mask):  # (batch, time, width), (batch, 1, 1, time)
        size, time, _ = x.shape
        head_size = width // heads
        queries, keys, values = self.project(x).view(size, time, 3, heads, head_size).permute(2, 0, 3, 1, 4)
        scores = queries @ keys.transpose(-2, -1) / math.sqrt(head_size)  # (batch, heads, time, time)
        scores = scores.masked_fill(mask == 0, float("-inf"))
        weights = F.softmax(scores, dim=-1)
        attended = weights @ values
        return self.out(attended.transpose(1, 2).reshape(size, time, width))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(vocabulary), width, padding_idx=0)
        self.previous = nn.Embedding(len(vocabulary), width, padding_idx=0)
        self.positions = nn.Embedding(60, width)
        nn.init.normal_(self.positions.weight, std=0.1)
        self.feed_forward = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.attention1, self.attention2 = Attention(), Attention()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.head = nn.Linear(width, 2)

    def forward(self, inputs, lengths):  # (batch, time), (batch,)
        places = torch.arange(inputs.shape[1], device=inputs.device)
        present = places < lengths.to(inputs.device)[:, None]  # (batch, time), False at padding
        mask = present[:, None, None, :]
        shifted = F.pad(inputs, (1, 0))[:, :-1]  # the word before: "not" turns what follows
        hidden = self.embedding(inputs) + self.previous(shifted) + self.positions(places)
        hidden = hidden + self.feed_forward(hidden)
        hidden = hidden + self.attention1(self.norm1(hidden), mask)
        hidden = hidden + self.attention2(self.norm2(hidden), mask)
        hidden = hidden * present[:, :, None]
        pooled = hidden.sum(1) / lengths.to(inputs.device)[:, None]  # mean over the words alone
        return self.head(pooled)  # (batch, 2) logits


model = Net().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

# %% Training
step = 0
losses = []
for epoch in range(epochs):
    model.train()
    for inputs, lengths, targets in train_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        logits = model(inputs, lengths)
        loss = F.cross_entropy(logits, targets)
        loss.backward()
        optimizer.step()
        step += 1
        losses.append(loss.item())

# %% Evaluation
model.eval()
correct, total, summed = 0, 0, 0.0
with torch.no_grad():
    for inputs, lengths, targets in validation_loader:
        inputs, targets = inputs.to(device), targets.to(device)
        logits = model(inputs, lengths)
        summed += F.cross_entropy(logits, targets, reduction="sum").item()
        correct += (logits.argmax(-1) == targets).sum().item()
        total += len(targets)
metrics = {"accuracy": correct / total, "loss": summed / total}
print(metrics)
