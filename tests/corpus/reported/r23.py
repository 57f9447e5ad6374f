"""Small volumetric segmentation net (1-D stand-in) with a trainer object."""
import torch
from torch import nn


class DoubleConv(nn.Sequential):
    def __init__(self, i, o):
        super().__init__(nn.Conv1d(i, o, 3, padding=1), nn.BatchNorm1d(o), nn.ReLU(inplace=True), nn.Dropout(0.4))


class UNet1D(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        self.down, self.mid = DoubleConv(1, w), DoubleConv(w, 2 * w)
        self.up = nn.Upsample(scale_factor=2)
        self.dec, self.final = DoubleConv(3 * w, w), nn.Conv1d(w, 1, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.mid(nn.functional.max_pool1d(a, 2))
        return self.final(self.dec(torch.cat([a, self.up(b)], 1)))


def phantom(n, length=48):
    t = torch.arange(length)
    start, width = torch.randint(4, 28, (n, 1)), torch.randint(5, 15, (n, 1))
    mask = ((t >= start) & (t < start + width)).float().unsqueeze(1)
    return mask * (0.8 + 0.4 * torch.rand(n, 1, 1)) + 0.5 * torch.randn(n, 1, length), mask


class UNetTrainer:
    def __init__(self, model, optimizer, loaders, iters, validate_after):
        self.model, self.optimizer, self.loaders = model, optimizer, loaders
        self.max_iters, self.validate_after = iters, validate_after
        self.loss_criterion = nn.BCEWithLogitsLoss()

    def fit(self):
        it = 0
        self.model.train()
        while it < self.max_iters:
            x, y = self.loaders["train"]()
            loss = self.loss_criterion(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            it += 1
            if it % self.validate_after == 0:
                print(f"iter {it} train loss {loss.item():.4f} eval score {self.validate():.4f}")

    def validate(self):
        inter = total = 0.0
        with torch.no_grad():
            for x, y in self.loaders["val"]():
                pred = (self.model(x) > 0).float()
                inter += (pred * y).sum().item()
                total += (pred + y).sum().item()
        return 2 * inter / total


torch.manual_seed(3)
val_x, val_y = phantom(60)
model = UNet1D()
UNetTrainer(model, torch.optim.Adam(model.parameters(), lr=4e-3),
            {"train": lambda: phantom(16), "val": lambda: zip(val_x.split(2), val_y.split(2))}, 160, 40).fit()
