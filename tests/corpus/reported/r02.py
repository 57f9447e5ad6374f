"""FCN-style trainer with a validation pass every few iterations."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(41)
S = 12


def scenes(n):
    yy, xx = torch.meshgrid(torch.arange(S), torch.arange(S), indexing="ij")
    c = torch.randint(3, S - 3, (n, 2, 1, 1))
    r = torch.randint(2, 4, (n, 1, 1))
    disc = ((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2 <= r ** 2)
    bar = (xx[None] - c[:, 1]).abs() <= 0
    lbl = torch.where(disc, 1, torch.where(bar, 2, 0))
    gain = torch.tensor([0.0, 5.0, -4.0])[lbl] + 10
    return (gain + 2.0 * torch.randn(n, S, S)).unsqueeze(1), lbl


class FCN(nn.Module):
    def __init__(self, w=16):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(1, w, 3, padding=1), nn.BatchNorm2d(w)
        self.c2, self.b2 = nn.Conv2d(w, w, 3, padding=1), nn.BatchNorm2d(w)
        self.drop, self.score = nn.Dropout2d(0.2), nn.Conv2d(w, 3, 1)

    def forward(self, x):
        x = F.relu(self.b1(self.c1(x)))
        return self.score(self.drop(F.relu(self.b2(self.c2(x)))))


class Trainer:
    def __init__(self, model, optimizer, train, val, max_iter, interval_validate):
        self.model, self.optim = model, optimizer
        self.train_data, self.val_data = train, val
        self.max_iter, self.interval_validate = max_iter, interval_validate
        self.iteration = 0

    def validate(self):
        self.model.eval()
        x, lbl = self.val_data
        with torch.no_grad():
            score = self.model(x)
            loss = F.cross_entropy(score, lbl).item()
        pred = score.argmax(1)
        iou = [((pred == k) & (lbl == k)).sum() / ((pred == k) | (lbl == k)).sum() for k in range(3)]
        print(f"iteration {self.iteration} val loss {loss:.4f} mean IoU {sum(iou) / 3:.3f}")

    def train_epoch(self):
        self.model.train()
        x, lbl = self.train_data
        for rows in torch.randperm(len(x)).split(10):
            if self.iteration % self.interval_validate == 0:
                self.validate()
            self.iteration += 1
            loss = F.cross_entropy(self.model(x[rows]), lbl[rows])
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            if self.iteration >= self.max_iter:
                return

    def train(self):
        while self.iteration < self.max_iter:
            self.train_epoch()
        self.validate()


model = FCN()
optim = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
Trainer(model, optim, scenes(800), scenes(100), max_iter=160, interval_validate=40).train()
