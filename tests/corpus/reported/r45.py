"""Transfer: features learnt on digits 0-4, a linear head for digits 5-9."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(8)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32).view(-1, 1, 8, 8) / 16
y = torch.tensor(y)


def make_backbone():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.Flatten())


def train(modules, trainable, data, epochs, lr, backbone_training):
    net = nn.Sequential(*modules)
    opt = torch.optim.Adam(trainable, lr=lr)
    xs, ys = data
    for _ in range(epochs):
        net.train()
        modules[0].train(backbone_training)
        for rows in torch.randperm(len(xs)).split(64):
            loss = nn.functional.cross_entropy(net(xs[rows]), ys[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return net, loss.item()


source = y < 5
backbone, old_head = make_backbone(), nn.Linear(512, 5)
params = list(backbone.parameters()) + list(old_head.parameters())
_, l0 = train([backbone, old_head], params, (X[source], y[source]), 6, 2e-3, True)
print(f"source task loss {l0:.4f}")

for p in backbone.parameters():
    p.requires_grad_(False)

tx, ty = X[~source], y[~source] - 5
perm = torch.randperm(len(tx))
tr, te = perm[:300], perm[300:]
new_head = nn.Linear(512, 5)
net, l1 = train([backbone, new_head], new_head.parameters(), (tx[tr], ty[tr]), 30, 3e-3, False)
net.eval()
with torch.no_grad():
    acc = (net(tx[te]).argmax(1) == ty[te]).float().mean()
print(f"target task loss {l1:.4f} test acc {acc:.3f} ({sum(p.requires_grad for p in net.parameters())} trainable tensors)")
