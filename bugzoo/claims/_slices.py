"""A deep narrow reader of digits, and what its loss looks like around the place where training ended.

It is run as a text by `skip_connections_smooth`, once for each depth, way and seed; nobody imports it.
"""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

# %% Settings
seed = 0
way = "skip"  # "skip", "plain", or "normalised": no skip, and a LayerNorm before each ReLU
depth = 20
width = 32
epochs = 30
learning_rate = 3e-3
reach = 1.0
points = 21
torch.manual_seed(seed)

# %% Data
images, digits = load_digits(return_X_y=True)
order = torch.randperm(len(images))
images, digits = torch.tensor(images / 16, dtype=torch.float32)[order], torch.tensor(digits)[order]
x_train, y_train, x_new, y_new = images[:1200], digits[:1200], images[1200:], digits[1200:]


# %% Model
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(64, width), nn.Linear(width, 10)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(depth if way == "normalised" else 0))
        for layer in self.layers:
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
            if way == "skip":  # or what is added up would grow with the depth
                with torch.no_grad():
                    layer.weight *= depth**-0.5

    def forward(self, x):
        x = F.relu(self.first(x))
        for index, layer in enumerate(self.layers):
            inner = layer(x)
            if way == "normalised":
                inner = self.norms[index](inner)
            x = x + F.relu(inner) if way == "skip" else F.relu(inner)
        return self.last(x)


model = Deep()
optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)

# %% Training
for _ in range(epochs):
    for part in torch.randperm(len(x_train)).split(64):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x_train[part]), y_train[part])
        loss.backward()
        optimizer.step()


# %% Slice
def direction(parameters):
    """At random, each row as long as the row that it is added to (Li and others 2018, section 4); nothing without rows."""
    made = []
    for parameter in parameters:
        noise = torch.randn_like(parameter)
        if parameter.dim() < 2:
            made.append(torch.zeros_like(parameter))
        else:
            made.append(noise / noise.norm(dim=1, keepdim=True) * parameter.norm(dim=1, keepdim=True))
    return made


with torch.no_grad():
    metrics = {
        "loss": F.cross_entropy(model(x_train), y_train).item(),
        "accuracy": (model(x_new).argmax(-1) == y_new).float().mean().item(),
    }
    parameters = list(model.parameters())
    base, east, north = [p.clone() for p in parameters], direction(parameters), direction(parameters)
    grid = torch.zeros(points, points)
    places = torch.linspace(-reach, reach, points)
    for row, up in enumerate(places):
        for column, right in enumerate(places):
            for parameter, here, one, other in zip(parameters, base, east, north, strict=True):
                parameter.copy_(here + right * one + up * other)
            grid[row, column] = F.cross_entropy(model(x_train[:300]), y_train[:300])
