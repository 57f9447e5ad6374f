"""Sentence classifier: embedding, LSTM, last time step, linear layers."""
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

random.seed(5)
torch.manual_seed(5)
VOCAB = ["<pad>"] + [f"w{i}" for i in range(40)] + ["not", "good", "bad"]
STOI = {w: i for i, w in enumerate(VOCAB)}


def sentence():
    words = [f"w{random.randrange(40)}" for _ in range(random.choice([3, 4, 5, 6, 40]))]
    label = random.randint(0, 1)
    negated = random.random() < 0.5
    tail = ["good" if label ^ negated else "bad"]
    at = random.randrange(len(words))
    words[at:at] = (["not"] if negated else []) + tail
    return [STOI[w] for w in words], label


class BatchGenerator:
    def __init__(self, examples, size, shuffle):
        self.examples, self.size, self.shuffle = examples, size, shuffle

    def __iter__(self):
        ex = random.sample(self.examples, len(self.examples)) if self.shuffle else self.examples
        for i in range(0, len(ex), self.size):
            ids, ys = zip(*ex[i:i + self.size])
            yield pad_sequence([torch.tensor(s) for s in ids]), torch.tensor([len(s) for s in ids]), torch.tensor(ys)


class LSTMBaseline(nn.Module):
    def __init__(self, hidden=32, emb=24):
        super().__init__()
        self.embedding = nn.Embedding(len(VOCAB), emb, padding_idx=0)
        self.encoder = nn.LSTM(emb, hidden)
        self.linear = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU())
        self.predictor = nn.Linear(32, 2)

    def forward(self, seq, lengths):
        hdn, _ = self.encoder(self.embedding(seq))
        feature = hdn[-1, :, :]
        return self.predictor(self.linear(feature))


train = BatchGenerator([sentence() for _ in range(700)], 35, True)
valid = BatchGenerator([sentence() for _ in range(200)], 100, False)
model = LSTMBaseline()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(1, 9):
    running = 0.0
    for x, n, y in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x, n), y)
        loss.backward()
        opt.step()
        running += loss.item() * len(y)
    with torch.no_grad():
        acc = sum((model(x, n).argmax(1) == y).sum().item() for x, n, y in valid) / 200
    print(f"Epoch: {epoch}, Training Loss: {running / 700:.4f}, Validation accuracy: {acc:.3f}")
