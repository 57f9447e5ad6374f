"""Tell praise from blame in film reviews with an embedding, an LSTM and a linear layer.

The reviews are generated: 5 to 60 words with negation ("not good"), contrast (what follows a "but" counts three times),
intensifiers and rare words. The words settle the label, then 4 labels in 100 are turned, so nobody can beat 0.96.
`--data PATH` reads real ones: a folder with pos/ and neg/ (as in aclImdb) or a CSV with columns text and label.

[facts]
task = "classification"
metric = "accuracy"
better = "higher"
classes = 2
chance = 0.5
bayes = 0.96            # accuracy of whoever knows the rules of the generator
floor = 0.168           # nats: entropy of a label that is turned 4 times in 100
healthy = [0.88, 0.97]
tiny_healthy = [0.72, 0.97]
held_out = "encode(make_reviews(1500, 7_000_003 + seed))"
training = "encode(train)"
validation = "validation_loader"

[tiny]
reviews = 3000
epochs = 3
"""

import argparse
import csv
import random
import re
from collections import Counter
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# %% Settings
seed = 0
device = "cpu"
batch_size = 32
learning_rate = 5e-3
epochs = 6
reviews = 8000
negated = 0.35  # share of "was not good"
contrasted = 0.4  # share of "but the ..."
longest = 60  # words; what is beyond is cut off
width = 32
hidden_size = 64
dropout = 0.2
max_norm = 1.0  # of the gradient
data = ""  # a folder or a CSV of your own reviews

# %% Data
torch.manual_seed(seed)
parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--data", default=data, help="folder with pos/ and neg/, or a CSV with a text and a label column")
data = parser.parse_known_args()[0].data

GOOD = "good great fine lovely funny clever moving bright warm sharp superb gripping witty radiant sublime".split()
BAD = "bad poor dull awful boring clumsy silly weak flat dreary tedious hollow messy lifeless witless".split()
THINGS = "film plot acting story music script ending cast pace dialogue camera humour".split()
ASIDES = (
    "i saw it on a friday with my sister|the cinema was almost empty|it runs for two hours|we had seats near the front"
    "|my friend knew the book|it was made in the north|it is set in a small town by the sea|they filmed it last year"
).split("|")


def make_reviews(count, seed):
    """List of `count` (text, label), 1 for praise and 0 for blame."""
    draw = random.Random(seed)
    rarity = [1 / rank for rank in range(1, len(GOOD) + 1)]  # Zipf: the last words of GOOD and BAD are rare
    made = []
    while len(made) < count:
        clauses, score = [], 0
        for _ in range(draw.randint(1, 6)):
            if draw.random() < 0.3:
                clauses.append(draw.choice(ASIDES))
                continue
            sign, weight = draw.choice((1, -1)), 1
            words = ["the", draw.choice(THINGS), "was", draw.choices(GOOD if sign > 0 else BAD, rarity)[0]]
            if draw.random() < 0.3:
                words.insert(3, "very")
                weight = 2
            if draw.random() < negated:
                words.insert(3, "not")
                sign = -sign
            if score and draw.random() < contrasted:
                words.insert(0, "but")
                weight *= 3
            score += sign * weight
            clauses.append(" ".join(words))
        text = " . ".join(clauses)
        if score and 5 <= len(text.split()) <= 60:
            made.append((text, int((score > 0) != (draw.random() < 0.04))))
    return made


def read_reviews(path):
    """List of (text, label) from a folder with pos/ and neg/ or from a CSV."""
    path = Path(path)
    if not path.exists():
        raise SystemExit(f"--data {path}: there is no such file or folder.")
    if path.is_dir():
        root = path / "train" if (path / "train").is_dir() else path  # aclImdb holds train/ and test/
        for kind in ("pos", "neg"):
            if not any((root / kind).glob("*.txt")):
                raise SystemExit(f"--data {path}: no .txt files in {root / kind}. Needed: pos/*.txt and neg/*.txt.")
        found = [(file, kind == "pos") for kind in ("pos", "neg") for file in sorted((root / kind).glob("*.txt"))]
        return [(file.read_text(encoding="utf-8", errors="replace"), int(label)) for file, label in found]
    with path.open(newline="", encoding="utf-8", errors="replace") as lines:
        table = csv.DictReader(lines)
        names = {name.strip().lower(): name for name in table.fieldnames or () if name}
        text = next((names[name] for name in ("text", "review", "sentence") if name in names), None)
        label = next((names[name] for name in ("label", "sentiment", "target") if name in names), None)
        if text is None or label is None:
            has = ", ".join(names) or "nothing"
            raise SystemExit(
                f"--data {path}: the first line names {has}; needed: text (or review) and label (or sentiment)."
            )
        meaning = {"1": 1, "pos": 1, "positive": 1, "0": 0, "neg": 0, "negative": 0}
        read = []
        for row in table:
            value = (row[label] or "").strip().lower()
            if value not in meaning:
                allowed = ", ".join(meaning)
                raise SystemExit(f"--data {path}, line {table.line_num}: label {value!r} is none of {allowed}.")
            read.append((row[text] or "", meaning[value]))
    return read


def split_words(text):
    return re.findall(r"[a-z']+|\d+|[.,!?]", text.lower().replace("<br />", " "))[:longest]


def encode(pairs):
    """(count, longest) word numbers, 0 where the text has ended, and (count,) labels."""
    numbers = torch.zeros(len(pairs), longest, dtype=torch.long)
    for row, (text, _) in zip(numbers, pairs, strict=True):
        words = [vocabulary.get(word, 1) for word in split_words(text)] or [1]
        row[: len(words)] = torch.tensor(words)
    return numbers, torch.tensor([label for _, label in pairs])


pairs = read_reviews(data) if data else make_reviews(reviews, seed)
if min(Counter(label for _, label in pairs).get(kind, 0) for kind in (0, 1)) < 5:
    raise SystemExit(f"--data {data}: at least 5 reviews of each kind are needed to train and to validate.")
random.Random(seed).shuffle(pairs)
train, validation = pairs[: len(pairs) * 4 // 5], pairs[len(pairs) * 4 // 5 :]
counts = Counter(word for text, _ in train for word in split_words(text))
frequent = [word for word, count in counts.most_common(20_000) if count > 1]
vocabulary = {word: number for number, word in enumerate(frequent, 2)}  # 0 is padding, 1 an unknown word


def collate(rows):
    inputs, targets = zip(*rows, strict=True)
    inputs = torch.stack(inputs)
    return inputs[:, : (inputs != 0).sum(1).max()], torch.stack(targets)  # padded to the longest in the batch


train_loader = DataLoader(TensorDataset(*encode(train)), batch_size, shuffle=True, collate_fn=collate)
validation_loader = DataLoader(TensorDataset(*encode(validation)), batch_size=256, collate_fn=collate)


# %% Model
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(vocabulary) + 2, width, padding_idx=0)
        self.lstm = nn.LSTM(width, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(hidden_size, 2)

    def forward(self, inputs):  # (batch, time)
        lengths = (inputs != 0).sum(1)  # (batch,)
        states, _ = self.lstm(self.dropout(self.words(inputs)))  # (batch, time, hidden_size)
        last = states[torch.arange(len(inputs), device=inputs.device), lengths - 1]  # the state at the last word
        return self.head(self.dropout(last))  # (batch, 2) logits


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
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
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
