"""Land cover at query points: a conv encoder makes a feature map, features are read at (row, col) positions."""
import argparse

import torch
from torch import nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=2)
parser.add_argument("--iters", type=int, default=500)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--points", type=int, default=40)
args = parser.parse_args()
torch.manual_seed(args.seed)

H, W, BANDS, CLASSES = 20, 28, 4, 5
SPECTRA = torch.randn(CLASSES, BANDS)


def scenes(n):
    """Class maps made of Voronoi cells, seen through noisy spectra."""
    seeds = torch.rand(n, 12, 2) * torch.tensor([H - 1.0, W - 1.0])
    kinds = torch.randint(CLASSES, (n, 12))
    rows, cols = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
    where = torch.stack([rows, cols], -1).float().view(1, H * W, 2)
    labels = kinds.gather(1, torch.cdist(where.expand(n, -1, -1), seeds).argmin(-1)).view(n, H, W)
    images = SPECTRA[labels].permute(0, 3, 1, 2) + 0.8 * torch.randn(n, BANDS, H, W)
    return images, labels


def draw_points(labels, k):
    n = len(labels)
    row, col = torch.randint(H, (n, k)), torch.randint(W, (n, k))
    target = labels[torch.arange(n)[:, None], row, col]
    return torch.stack([row, col], -1).float(), target


class PointNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(BANDS, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
        )
        self.decoder = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, CLASSES))
        self.register_buffer("scale", torch.tensor([H - 1.0, W - 1.0]))

    def forward(self, images, points):
        feats = self.encoder(images)
        grid = points / self.scale * 2 - 1
        sampled = F.grid_sample(feats, grid.unsqueeze(1), mode="bilinear", align_corners=True)
        return self.decoder(sampled.squeeze(2).transpose(1, 2))


@torch.no_grad()
def evaluate(model, images, labels):
    model.eval()
    points, target = draw_points(labels, 60)
    acc = (model(images, points).argmax(-1) == target).float().mean().item()
    model.train()
    return acc


def main():
    train_images, train_labels = scenes(600)
    test_images, test_labels = scenes(150)
    model = PointNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    print("parameters:", sum(p.numel() for p in model.parameters()))
    for it in range(1, args.iters + 1):
        idx = torch.randint(len(train_images), (args.batch,))
        points, target = draw_points(train_labels[idx], args.points)
        logits = model(train_images[idx], points)
        loss = F.cross_entropy(logits.reshape(-1, CLASSES), target.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 100 == 0:
            print(f"iter {it:4d} loss {loss.item():.3f} test acc {evaluate(model, test_images, test_labels):.3f}")


if __name__ == "__main__":
    main()
