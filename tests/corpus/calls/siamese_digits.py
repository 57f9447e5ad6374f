"""Siamese encoder for digit verification: pairs of images, cosine criterion, ROC AUC on unseen pairs."""
import argparse

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, Dataset


class PairDataset(Dataset):
    """Every other pair shows the same digit."""

    def __init__(self, images, labels, n_pairs, seed):
        rng = np.random.default_rng(seed)
        self.images = torch.tensor(images / 16.0, dtype=torch.float32).unsqueeze(1)
        groups = {k: np.flatnonzero(labels == k) for k in np.unique(labels)}
        self.pairs = []
        for i in range(n_pairs):
            a = rng.integers(len(labels))
            if i % 2 == 0:
                b, same = rng.choice(groups[labels[a]]), 1
            else:
                other = rng.choice([k for k in groups if k != labels[a]])
                b, same = rng.choice(groups[other]), 0
            self.pairs.append((a, b, same))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        a, b, same = self.pairs[i]
        return self.images[a], self.images[b], torch.tensor(same)


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return self.fc(self.conv(x))


@torch.no_grad()
def verification_auc(encoder, loader):
    encoder.eval()
    scores, truth = [], []
    for a, b, same in loader:
        scores.append(torch.cosine_similarity(encoder(a), encoder(b)))
        truth.append(same)
    scores, truth = torch.cat(scores), torch.cat(truth)
    gap = scores[truth > 0].mean() - scores[truth <= 0].mean()
    return roc_auc_score((truth > 0).numpy(), scores.numpy()), gap.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--margin", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=31)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    digits = load_digits()
    cut = 1200
    train = PairDataset(digits.images[:cut], digits.target[:cut], 6000, args.seed)
    test = PairDataset(digits.images[cut:], digits.target[cut:], 2000, args.seed + 1)
    train_loader = DataLoader(train, batch_size=args.batch, shuffle=True)
    test_loader = DataLoader(test, batch_size=500)
    encoder = Encoder()
    criterion = nn.CosineEmbeddingLoss(margin=args.margin)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        encoder.train()
        total = 0.0
        for a, b, same in train_loader:
            loss = criterion(encoder(a), encoder(b), same)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(same)
        auc, gap = verification_auc(encoder, test_loader)
        print(f"epoch {epoch}  loss {total / len(train):.4f}  test AUC {auc:.4f}  similarity gap {gap:.3f}")


if __name__ == "__main__":
    main()
