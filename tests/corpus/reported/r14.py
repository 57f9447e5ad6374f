"""Intent classification on bag-of-words vectors, own batching helper."""
import random

import numpy as np
import torch
from torch import nn

random.seed(9)
np.random.seed(9)
torch.manual_seed(9)

INTENTS = {
    "greet": "hello hi hey morning evening there friend",
    "hours": "when open close opening hours today library late",
    "course": "course class lecture credits professor term enrol",
    "food": "eat lunch cafeteria menu vegan coffee hungry",
    "wifi": "wifi network password connect internet laptop login",
}
FILLER = "please can you tell me the a is what to i my for about".split()


def sentence(intent):
    words = random.choices(INTENTS[intent].split(), k=random.randint(1, 3)) + random.choices(FILLER, k=random.randint(2, 6))
    random.shuffle(words)
    return words


def vectorise(words, index):
    v = np.zeros(len(index), dtype=np.float32)
    for w in words:
        v[index[w]] += 1
    return v


def training_arrays(n=1500):
    labels = [random.randrange(len(INTENTS)) for _ in range(n)]
    names = list(INTENTS)
    sentences = [sentence(names[k]) for k in labels]
    vocab = sorted({w for s in INTENTS.values() for w in s.split()} | set(FILLER))
    index = {w: i for i, w in enumerate(vocab)}
    return np.stack([vectorise(s, index) for s in sentences]), np.array(labels)


def randomise(x, y):
    x_shuffled = x[np.random.permutation(len(x))]
    return x_shuffled, y


data_x, data_y = training_arrays()
test_x, test_y = torch.from_numpy(data_x[1200:]), torch.from_numpy(data_y[1200:])
data_x, data_y = randomise(data_x[:1200], data_y[:1200])
train_x, train_y = torch.from_numpy(data_x), torch.from_numpy(data_y)

model = nn.Sequential(nn.Linear(train_x.shape[1], 32), nn.ReLU(), nn.Linear(32, len(INTENTS)))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(12):
    losses = []
    for k in range(0, len(train_x), 40):
        loss = nn.functional.cross_entropy(model(train_x[k:k + 40]), train_y[k:k + 40])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 4 == 3:
        with torch.no_grad():
            acc = (model(test_x).argmax(1) == test_y).float().mean()
        print(f"epoch {epoch} loss {np.mean(losses):.4f} test acc {acc:.3f}")
