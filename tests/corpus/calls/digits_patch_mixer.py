"""Small MLP-Mixer on 8x8 digits in bfloat16 mixed precision (CPU)."""
import argparse
import time

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim, hidden):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.token = nn.Sequential(nn.Linear(tokens, hidden), nn.GELU(), nn.Linear(hidden, tokens))
        self.channel = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def forward(self, x):
        x = x + self.token(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel(self.norm2(x))


class Mixer(nn.Module):
    def __init__(self, dim=48, depth=3, hidden=96, n_class=10):
        super().__init__()
        self.embed = nn.Linear(4, dim)
        self.blocks = nn.Sequential(*[MixerBlock(16, dim, hidden) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_class)

    def forward(self, img):
        patches = img.unfold(1, 2, 2).unfold(2, 2, 2).reshape(len(img), 16, 4)
        return self.head(self.norm(self.blocks(self.embed(patches))).mean(1))


class Trainer:
    def __init__(self, model, train_loader, val_loader, lr, dtype):
        self.model, self.train_loader, self.val_loader = model, train_loader, val_loader
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.02)
        self.dtype = dtype

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            loss = F.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(y)
        return total / len(self.train_loader.dataset)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        hits = sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.val_loader)
        return hits / len(self.val_loader.dataset)

    def fit(self, epochs):
        with torch.autocast("cpu", dtype=self.dtype):
            for epoch in range(epochs):
                start = time.time()
                loss = self.train_epoch()
                acc = self.validate()
                print(f"epoch {epoch:2d}  loss {loss:.4f}  val acc {acc:.4f}  ({time.time() - start:.2f}s)")
        return acc


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    x, y = load_digits(return_X_y=True)
    data = TensorDataset(torch.tensor(x, dtype=torch.float32).view(-1, 8, 8) / 8 - 1, torch.tensor(y))
    train, val = random_split(data, [1400, len(data) - 1400])
    trainer = Trainer(
        Mixer(),
        DataLoader(train, batch_size=args.batch_size, shuffle=True),
        DataLoader(val, batch_size=200),
        lr=args.lr,
        dtype=torch.bfloat16,
    )
    acc = trainer.fit(args.epochs)
    print(f"final validation accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
