"""Self-supervised digits: two random views of each scan, InfoNCE, then a nearest-neighbour test."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description="contrastive digits")
parser.add_argument("--epochs", type=int, default=25)
parser.add_argument("--batch-size", type=int, default=128)
parser.add_argument("--dim", type=int, default=8)
parser.add_argument("--temperature", type=float, default=0.2)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--seed", type=int, default=0)


def augment(x):
    """Shift by up to one pixel, scale the ink, blank a few pixels."""
    n = len(x)
    padded = F.pad(x, (1, 1, 1, 1))
    dy, dx = torch.randint(0, 3, (n,)), torch.randint(0, 3, (n,))
    rows = dy[:, None] + torch.arange(8)
    cols = dx[:, None] + torch.arange(8)
    idx = torch.arange(n)[:, None, None]
    out = padded[idx, 0, rows[:, :, None], cols[:, None, :]].unsqueeze(1)
    out = out * (0.7 + 0.6 * torch.rand(n, 1, 1, 1))
    keep = (torch.rand_like(out) > 0.1).float()
    return out * keep + 0.05 * torch.randn_like(out)


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(48 * 4, 96), nn.ReLU(), nn.Linear(96, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class ContrastiveHead(nn.Module):
    """logits with the positive in column 0, as for a cross entropy."""

    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, pos, neg):
        logits = torch.cat([pos, neg], dim=1) / self.temperature
        return F.cross_entropy(logits, torch.zeros(len(logits), dtype=torch.long))


def pair_indices(n_views):
    mask = ~torch.eye(n_views, dtype=torch.bool)
    rows = torch.arange(n_views)
    partner = rows ^ 1
    positive = torch.zeros(n_views, n_views, dtype=torch.bool)
    positive[rows, partner] = True
    return mask, positive


def forward_train(encoder, head, images):
    views = torch.cat([augment(images), augment(images)], dim=0)
    z = encoder(views)
    mask, positive = pair_indices(len(z))
    s = z @ z.t()
    pos = s[positive].view(len(z), 1)
    neg = s[mask & ~positive].view(len(z), -1)
    return head(pos, neg)


@torch.no_grad()
def knn_accuracy(encoder, x, y, n_ref):
    encoder.eval()
    z = encoder(x).numpy()
    knn = KNeighborsClassifier(5).fit(z[:n_ref], y[:n_ref])
    return knn.score(z[n_ref:], y[n_ref:])


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    x, y = load_digits(return_X_y=True)
    order = torch.randperm(len(y))
    x = torch.tensor(x / 16.0, dtype=torch.float32).view(-1, 1, 8, 8)[order]
    y = y[order.numpy()]
    loader = DataLoader(TensorDataset(x), batch_size=args.batch_size, shuffle=True, drop_last=True)
    encoder, head = Encoder(args.dim), ContrastiveHead(args.temperature)
    opt = torch.optim.Adam(encoder.parameters(), lr=args.lr, weight_decay=1e-6)
    for epoch in range(1, args.epochs + 1):
        encoder.train()
        running = 0.0
        for (xb,) in loader:
            loss = forward_train(encoder, head, xb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        if epoch % 5 == 0 or epoch == 1:
            print(f"epoch {epoch:2d} loss {running / len(loader):.3f} 5-nn acc {knn_accuracy(encoder, x, y, 300):.3f}")


if __name__ == "__main__":
    main()
