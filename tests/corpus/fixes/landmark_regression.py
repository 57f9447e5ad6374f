"""Regress the corner landmarks of rendered quadrilaterals with a small CNN."""
import os

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class QuadDataset(Dataset):
    """Grey images with four bright dots, one per quadrant, of different sizes."""

    def __init__(self, n, seed, side=32):
        rng = np.random.RandomState(seed)
        self.side = side
        self.records = []
        grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1)
        centres = np.array([[8, 8], [24, 8], [8, 24], [24, 24]], dtype=float)
        for k in range(n):
            pts = centres + rng.uniform(-6, 6, size=(4, 2))
            img = rng.normal(0, 0.05, size=(side, side))
            for (px, py), s in zip(pts, (1.0, 1.4, 1.8, 2.2)):
                d2 = ((grid - np.array([px, py])) ** 2).sum(-1)
                img += np.exp(-d2 / (2 * s * s))
            self.records.append({"image": img.astype(np.float32),
                                 "points": (pts / side - 0.5).ravel().tolist()})

    def __len__(self):
        return len(self.records)

    def __getitem__(self, idx):
        rec = self.records[idx]
        return {"image": torch.from_numpy(rec["image"]).unsqueeze(0),
                "points": rec["points"]}


class LandmarkNet(nn.Module):
    def __init__(self, n_out=8):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
            nn.Flatten(),
        )
        self.fc = nn.Sequential(nn.Linear(32 * 8 * 8, 96), nn.ReLU(), nn.Linear(96, n_out))

    def forward(self, x):
        return self.fc(self.body(x))


def unpack(batch):
    images = batch["image"]
    points = torch.stack(batch["points"]).float()
    return images, points.reshape(images.size(0), -1)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-4)
        self.criterion = nn.SmoothL1Loss(beta=0.05)

    def fit_epoch(self, loader):
        self.model.train()
        losses = []
        for batch in loader:
            images, points = unpack(batch)
            loss = self.criterion(self.model(images), points)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return float(np.mean(losses))

    @torch.no_grad()
    def evaluate(self, loader, side):
        self.model.eval()
        dist = []
        for batch in loader:
            images, points = unpack(batch)
            delta = (self.model(images) - points).view(-1, 4, 2) * side
            dist.append(delta.norm(dim=-1))
        dist = torch.cat(dist)
        return dist.mean().item(), (dist < 2.0).float().mean().item()


def main():
    seed = int(os.environ.get("SEED", 0))
    torch.manual_seed(seed)
    train_set = QuadDataset(1200, seed * 10 + 1)
    test_set = QuadDataset(300, seed * 10 + 2)
    train_loader = DataLoader(train_set, batch_size=24, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=50)

    trainer = Trainer(LandmarkNet(), lr=1e-3)
    for epoch in range(20):
        loss = trainer.fit_epoch(train_loader)
        err, pck = trainer.evaluate(test_loader, test_set.side)
        print("epoch %2d | loss %.5f | mean px error %.3f | within 2px %.3f"
              % (epoch, loss, err, pck))
    print("RESULT px_error=%.3f pck2=%.3f" % (err, pck))


if __name__ == "__main__":
    main()
