# Linear probe: learn features on digits 0-4, keep them fixed, learn a new head for 5-9.
import copy
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(21)
d = load_digits()
px = torch.as_tensor(d.data, dtype=torch.float32).div(16)
lb = torch.as_tensor(d.target)
first = lb < 5
old = TensorDataset(px[first], lb[first])
new = TensorDataset(px[~first], lb[~first] - 5)


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 80), nn.BatchNorm1d(80), nn.ReLU(), nn.Linear(80, 40), nn.ReLU())
        self.head = nn.Linear(40, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def fit(model, params, data, epochs, lr):
    opt = torch.optim.SGD(params, lr=lr, momentum=0.9)
    ce = nn.CrossEntropyLoss()
    for _ in range(epochs):
        for x, y in DataLoader(data, batch_size=32, shuffle=True):
            opt.zero_grad()
            ce(model(x), y).backward()
            opt.step()


def test(model, data):
    model.eval()
    hit = 0
    with torch.no_grad():
        for x, y in DataLoader(data, batch_size=128):
            hit += (model(x).argmax(1) == y).sum().item()
    return hit / len(data)


clf = Classifier(5)
fit(clf, clf.parameters(), old, 6, 0.05)
print("old task", test(clf, old))

probe = Classifier(5)
probe.backbone = copy.deepcopy(clf.backbone)
for p in probe.backbone.parameters():
    p.requires_grad = False
probe.backbone.eval()
tr, te = random_split(new, [600, len(new) - 600])
fit(probe, [p for p in probe.parameters() if p.requires_grad], tr, 10, 0.05)
print("new task, features fixed", test(probe, te))
