"""Tell praise from blame in film reviews: an embedding, an LSTM of two layers over packed sequences, a linear layer.

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
tiny_healthy = [0.7, 0.97]
held_out = "encode(make_reviews(1500, 7_000_003 + seed, negated, contrasted))"
training = "encode(train)"
validation = "validation_loader"

[tiny]
reviews = 3000
epochs = 3
longest = 24
batch_size = 48
learning_rate = 1e-2
hidden_size = 24
"""

import argparse
import random
from collections import Counter

import torch
import torch.nn.functional as F
from film_reviews import make_reviews, read_reviews, split_words
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
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
layers = 2
dropout = 0.2
max_norm = 1.0  # of the gradient
data = ""  # a folder or a CSV of your own reviews

# %% Data
torch.manual_seed(seed)
parser = argparse.ArgumentParser(allow_abbrev=False)
parser.add_argument("--data", default=data, help="folder with pos/ and neg/, or a CSV with a text and a label column")
data = parser.parse_known_args()[0].data


def encode(pairs):
    """(count, longest) word numbers, 0 where the text has ended, and (count,) labels."""
    numbers = torch.zeros(len(pairs), longest, dtype=torch.long)
    for row, (text, _) in zip(numbers, pairs, strict=True):
        words = [vocabulary.get(word, 1) for word in split_words(text)[:longest]] or [1]
        row[: len(words)] = torch.tensor(words)
    return numbers, torch.tensor([label for _, label in pairs])


pairs = read_reviews(data) if data else make_reviews(reviews, seed, negated, contrasted)
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
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(vocabulary) + 2, width, padding_idx=0)
        self.lstm = nn.LSTM(width, hidden_size, layers, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(width + hidden_size, 2)

    def forward(self, inputs):  # (batch, time)
        lengths = (inputs != 0).sum(1)  # (batch,)
        embedded = self.dropout(self.words(inputs))  # (batch, time, width), zeros where the review has ended
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, (hidden, _) = self.lstm(packed)  # (layers, batch, hidden_size), each review's at its last word
        mean = embedded.sum(1) / lengths.unsqueeze(1)  # of its words
        return self.head(self.dropout(torch.cat([hidden[-1], mean], 1)))  # (batch, 2) logits


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
