"""A reader of digits trained in four ways, and how sharp the place is where training ended.

It is run as a text by `flat_minima_generalise`, once for each way, share of wrong labels and seed; nobody imports it.
"""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

# %% Settings
seed = 0
batch_size = 16
radius = 0.0  # how far sharpness-aware minimisation (SAM) looks uphill before each step; 0 for SGD
wrong = 0.0  # share of the training labels that are drawn at random
rows = 300
steps = 2280
learning_rate = 0.1
torch.manual_seed(seed)

# %% Data
images, digits = load_digits(return_X_y=True)
order = torch.randperm(len(images))
images, digits = torch.tensor(images / 16, dtype=torch.float32)[order], torch.tensor(digits)[order]
x_train, y_train, x_new, y_new = images[:rows], digits[:rows].clone(), images[800:], digits[800:]
y_train[: int(wrong * rows)] = torch.randint(0, 10, (int(wrong * rows),))

# %% Model
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
parameters = list(model.parameters())

# %% Training
step = 0
while step < steps:
    for part in torch.randperm(rows).split(batch_size):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x_train[part]), y_train[part])
        loss.backward()
        if radius:  # the gradient of the place `radius` further up (Foret and others 2021, algorithm 1)
            length = torch.nn.utils.get_total_norm([p.grad for p in parameters])
            uphill = [radius * p.grad / (length + 1e-12) for p in parameters]
            with torch.no_grad():
                for p, move in zip(parameters, uphill, strict=True):
                    p += move
            optimizer.zero_grad()
            F.cross_entropy(model(x_train[part]), y_train[part]).backward()
            with torch.no_grad():
                for p, move in zip(parameters, uphill, strict=True):
                    p -= move
        optimizer.step()
        step += 1
        if step == steps:
            break


# %% Sharpness
def sharpness(value, rounds=30):
    """The largest eigenvalue of the second derivatives, by power iteration."""
    gradient = torch.autograd.grad(value, parameters, create_graph=True)
    vectors, found = [torch.randn_like(p) for p in parameters], 0.0
    for _ in range(rounds):
        length = sum((v**2).sum() for v in vectors) ** 0.5
        vectors = [v / length for v in vectors]
        images_of = torch.autograd.grad(gradient, parameters, vectors, retain_graph=True)
        found = sum((a * b).sum() for a, b in zip(vectors, images_of, strict=True)).item()
        vectors = [v.detach() for v in images_of]
    return found


def known(rows_right):
    """Share of these training pictures that the model names as their labels do."""
    with torch.no_grad():
        return (model(x_train[rows_right]).argmax(-1) == y_train[rows_right]).float().mean().item()


count = int(wrong * rows)
value = F.cross_entropy(model(x_train), y_train)
with torch.no_grad():
    accuracy = (model(x_new).argmax(-1) == y_new).float().mean().item()
metrics = {"loss": value.item(), "accuracy": accuracy, "sharpness": sharpness(value)}
metrics["wrong_learnt"] = known(slice(0, count)) if count else 0.0
