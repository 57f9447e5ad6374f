"""Tell praise from blame in film reviews with a small attention encoder and a padding mask.

The reviews are generated as in sentiment_lstm (5 to 60 words) with less negation and contrast, which attention learns
slowly. A batch is padded to its longest review: the share of padding differs from row to row and batch to batch.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 2
chance = 0.5
bayes = 0.96            # accuracy of whoever knows the rules of the generator
floor = 0.168           # nats: entropy of a label that is turned 4 times in 100
healthy = [0.78, 0.97]
tiny_healthy = [0.68, 0.97]
held_out = "encode(make_reviews(1500, 7_000_003 + seed, negated, contrasted))"
training = "encode(train)"
validation = "validation_loader"

[tiny]
reviews = 3000
epochs = 3
"""

import math
import random
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from film_reviews import make_reviews, split_words

# %% Settings
seed = 0
device = "cpu"
batch_size = 32
learning_rate = 5e-3
epochs = 8
reviews = 8000
negated = 0.1  # share of "was not good"
contrasted = 0.1  # share of "but the ..."
longest = 60  # words; what is beyond is cut off
width = 32
heads = 4
layers = 1
dropout = 0.1

# %% Data
torch.manual_seed(seed)


def encode(pairs):
    """(count, longest) word numbers, 0 where the text has ended, and (count,) labels."""
    numbers = torch.zeros(len(pairs), longest, dtype=torch.long)
    for row, (text, _) in zip(numbers, pairs, strict=True):
        words = [vocabulary.get(word, 1) for word in split_words(text)[:longest]] or [1]
        row[: len(words)] = torch.tensor(words)
    return numbers, torch.tensor([label for _, label in pairs])


pairs = make_reviews(reviews, seed, negated, contrasted)
random.Random(seed).shuffle(pairs)
train, validation = pairs[: len(pairs) * 4 // 5], pairs[len(pairs) * 4 // 5 :]
counts = Counter(word for text, _ in train for word in split_words(text)[:longest])
frequent = [word for word, count in counts.most_common(20_000) if count > 1]
vocabulary = {word: number for number, word in enumerate(frequent, 2)}  # 0 is padding, 1 an unknown word


def collate(rows):
    inputs, targets = zip(*rows, strict=True)
    inputs = torch.stack(inputs)
    return inputs[:, : (inputs != 0).sum(1).max()], torch.stack(targets)  # padded to the longest in the batch


train_loader = DataLoader(TensorDataset(*encode(train)), batch_size, shuffle=True, collate_fn=collate)
validation_loader = DataLoader(TensorDataset(*encode(validation)), batch_size=256, collate_fn=collate)


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


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention()
        self.feed_forward = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.feed_forward(self.norm2(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(vocabulary) + 2, width)
        self.positions = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList([Block() for _ in range(layers)])
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 2)
        for weight, std in ((self.words.weight, 0.1), (self.positions.weight, 0.1), (self.head.weight, 0.02)):
            nn.init.normal_(weight, std=std)  # small, so that what is learned soon outweighs it

    def forward(self, inputs):  # (batch, time)
        words = inputs != 0  # (batch, time), False where the review has ended
        mask = words[:, None, None, :]  # every place may look at every word, (batch, 1, 1, time)
        x = self.dropout(self.words(inputs) + self.positions(torch.arange(inputs.shape[1], device=inputs.device)))
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x) * words.unsqueeze(-1)
        return self.head(x.sum(1) / words.sum(1, keepdim=True))  # mean over the words -> (batch, 2) logits


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
