import os

import torch
from torch import nn
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

SEED = int(os.environ.get("SEED", 0))
RHO = 0.2
EPOCHS = 20
BATCH = 64


class SharpnessAware:
    def __init__(self, params, base, rho):
        self.params = [p for p in params if p.requires_grad]
        self.base = base
        self.rho = rho
        self.offsets = []

    def zero_grad(self):
        self.base.zero_grad(set_to_none=True)

    @torch.no_grad()
    def ascend(self):
        grads = [p.grad for p in self.params]
        norm = torch.stack([g.norm() for g in grads]).norm()
        scale = self.rho / (norm + 1e-12)
        self.offsets = [g * scale for g in grads]
        for p, e in zip(self.params, self.offsets):
            p.add_(e)

    @torch.no_grad()
    def descend(self):
        for p, e in zip(self.params, self.offsets):
            p.sub_(e)
        self.base.step()


def data():
    x, y = make_classification(
        n_samples=8000, n_features=40, n_informative=12, n_redundant=8, n_classes=4,
        n_clusters_per_class=2, class_sep=1.5, flip_y=0.02, random_state=SEED,
    )
    x_tr, x_te, y_tr, y_te = train_test_split(
        x, y, test_size=0.4, random_state=SEED, stratify=y
    )
    mean, std = x_tr.mean(0), x_tr.std(0)
    f = lambda a: torch.tensor((a - mean) / std, dtype=torch.float32)
    return f(x_tr), torch.tensor(y_tr), f(x_te), torch.tensor(y_te)


def make_net(n_in, n_out):
    return nn.Sequential(
        nn.Linear(n_in, 128), nn.LayerNorm(128), nn.GELU(),
        nn.Linear(128, 128), nn.LayerNorm(128), nn.GELU(),
        nn.Linear(128, n_out),
    )


def test(net, x, y, loss_fn):
    net.eval()
    with torch.no_grad():
        logits = net(x)
    return loss_fn(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


torch.manual_seed(SEED)
x_tr, y_tr, x_te, y_te = data()
net = make_net(x_tr.shape[1], 4)
base = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(base, EPOCHS)
optimizer = SharpnessAware(net.parameters(), base, RHO)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(1, EPOCHS + 1):
    net.train()
    perm = torch.randperm(len(y_tr))
    total = 0.0
    for i in range(0, len(perm), BATCH):
        xb, yb = x_tr[perm[i:i + BATCH]], y_tr[perm[i:i + BATCH]]

        optimizer.zero_grad()
        loss = loss_fn(net(xb), yb)
        loss.backward()
        optimizer.ascend()

        optimizer.zero_grad()
        loss_fn(net(xb), yb).backward()
        optimizer.descend()

        total += loss.item() * len(yb)
    sched.step()
    if epoch % 4 == 0:
        te_loss, te_acc = test(net, x_te, y_te, loss_fn)
        print(f"epoch {epoch:2d} | train {total / len(perm):.4f} | test {te_loss:.4f} | acc {te_acc:.4f}")

te_loss, te_acc = test(net, x_te, y_te, loss_fn)
print(f"test loss {te_loss:.4f} | test acc {te_acc:.4f}")
