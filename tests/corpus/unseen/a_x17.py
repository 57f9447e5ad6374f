"""A classifier and a decoder on one code: two losses, one optimiser."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(25)
data, target = load_digits(return_X_y=True)
data, target = torch.tensor(data / 16.0).float(), torch.tensor(target)
net = nn.ModuleDict({"code": nn.Linear(64, 32), "pixels": nn.Linear(32, 64), "digit": nn.Linear(32, 10)})
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
activations = {}


def forward(x):
    c = torch.relu(net["code"](x))
    activations["digit"] = F.softmax(net["digit"](c), 1)
    return activations["digit"], net["pixels"](c)


it = iter([])
for i in range(200):
    try:
        rows = next(it)
    except StopIteration:
        it = iter(torch.randperm(1500).split(60))
        rows = next(it)
    who, back = forward(data[rows])
    L_rec = F.mse_loss(back, data[rows])
    L_cls = F.cross_entropy(who, target[rows])
    L = L_cls + 2 * L_rec
    opt.zero_grad()
    L.backward()
    opt.step()
    if i % 40 == 39:
        print(i, L_rec.item(), L_cls.item())
who, _ = forward(data[1500:])
print("accuracy", (who.argmax(1) == target[1500:]).float().mean().item())
