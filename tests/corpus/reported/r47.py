"""Dense classifier with optimiser settings picked from a table."""
import torch
from sklearn.datasets import load_digits
from torch import nn

OPTIMIZERS = {
    "momentum": lambda p, wd: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=wd),
    "adam": lambda p, wd: torch.optim.AdamW(p, lr=3e-3, weight_decay=wd),
}


def dnn(n_in, n_out, width=64, depth=2):
    layers = []
    for i in range(depth):
        layers += [nn.Linear(n_in if i == 0 else width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, n_out))


def batches(x, y, size):
    for rows in torch.randperm(len(x)).split(size):
        yield x[rows], y[rows]


def experiment(name, wd, epochs=10, seed=0):
    torch.manual_seed(seed)
    data = load_digits()
    x = torch.tensor(data.data, dtype=torch.float32)
    y = torch.tensor(data.target)
    order = torch.randperm(len(x))
    tr, va = order[:1400], order[1400:]
    x = (x - x[tr].mean()) / x[tr].std()
    net = dnn(64, 10)
    opt = OPTIMIZERS[name](net.parameters(), wd)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        net.train()
        run = 0.0
        for xb, yb in batches(x[tr], y[tr], 64):
            opt.zero_grad()
            loss = loss_fn(net(xb), yb)
            loss.backward()
            opt.step()
            run += loss.item() * len(xb)
        net.eval()
        with torch.no_grad():
            out = net(x[va])
            acc = (out.argmax(1) == y[va]).float().mean().item()
        if epoch % 3 == 0:
            print(f"{name} epoch {epoch}: train {run / len(tr):.3f} valid {loss_fn(out, y[va]):.3f} acc {acc:.3f}")
    return acc


print(f"final {experiment('adam', wd=40.0):.3f}")
