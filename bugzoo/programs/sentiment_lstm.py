"""Tell whether a film review is favourable: embedding, LSTM, linear layer. The running example of the course.

The reviews are generated: clauses about parts of a film, with negation ("not dull"), intensifiers that count double,
contrast (what follows "but" outweighs what precedes it), filler and rare words, 5 to 60 words. One label in twenty is
flipped, so that nobody can be right more often than 0.95. With `--data PATH` it reads reviews of your own: a folder
with `pos/` and `neg/` full of text files (the layout of aclImdb), or a CSV file with columns `text` and `label`.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 2
chance = 0.5
floor = 0.199           # nats: the entropy of one flipped label in twenty
bayes = 0.95
healthy = [0.85, 0.97]
tiny_healthy = [0.72, 0.97]

[tiny]
reviews = 1600
epochs = 4
"""

import argparse
import csv
import random
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

# %% Settings
seed = 0
device = "cpu"
batch_size = 32
learning_rate = 3e-3
epochs = 6
reviews = 5000
width = 64
clip = 1.0
data = ""  # a folder with pos/ and neg/, or a CSV file; "" generates reviews

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


def read_reviews(path):
    """(words, label) pairs from a folder with pos/ and neg/, or a CSV file with columns text and label."""
    path = Path(path)
    if path.is_dir():
        files = [(file, label) for label, name in enumerate(("neg", "pos")) for file in sorted((path / name).glob("*.txt"))]
        found = [(file.read_text(encoding="utf-8", errors="replace"), label) for file, label in files]
    elif path.is_file():
        with open(path, newline="", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines))
        if rows and not {"text", "label"} <= set(rows[0]):
            sys.exit(f"{path}: the first line must name the columns text and label; it names {', '.join(rows[0])}.")
        words = {"0": 0, "1": 1, "neg": 0, "pos": 1, "negative": 0, "positive": 1}
        unknown = sorted({row["label"] for row in rows if (row["label"] or "").strip().lower() not in words})
        if unknown:
            sys.exit(f"{path}: label {unknown[0]!r} is not known; write one of {', '.join(words)}.")
        found = [(row["text"], words[row["label"].strip().lower()]) for row in rows]
    else:
        sys.exit(f"{path}: no such file or folder. Give a folder with pos/ and neg/, or a CSV file.")
    if len({label for _, label in found}) < 2:
        sys.exit(f"{path}: found {len(found)} reviews; both classes are needed (pos/*.txt and neg/*.txt, or labels 0 and 1).")
    return [(text.lower().split()[:60] or ["<unknown>"], label) for text, label in found]


if __name__ == "__main__" and len(sys.argv) > 1:
    parser = argparse.ArgumentParser(description=__doc__.partition("[facts]")[0])
    parser.add_argument("--data", default=data, help="folder with pos/ and neg/, or a CSV file with text,label")
    data = parser.parse_args().data
rng = random.Random(seed)
pairs = read_reviews(data) if data else [review(rng) for _ in range(reviews)]
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
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(vocabulary), width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, 2)

    def forward(self, inputs, lengths):  # (batch, time), (batch,)
        embedded = self.embedding(inputs)  # (batch, time, width)
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)  # hidden: (layers, batch, width), each row at its own last word
        return self.head(hidden[-1])  # (batch, 2) logits


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
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
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
