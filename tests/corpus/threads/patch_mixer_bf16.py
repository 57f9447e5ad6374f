"""A small patch mixer on digits, computed in bfloat16."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-4)
    p.add_argument("--dim", type=int, default=48)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.token = nn.Sequential(nn.Linear(tokens, 32), nn.GELU(), nn.Linear(32, tokens))
        self.channel = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.token(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel(self.norm2(x))


class PatchMixer(nn.Module):
    def __init__(self, dim, depth=2, patch=2, classes=10):
        super().__init__()
        self.patch = patch
        tokens = (8 // patch) ** 2
        self.embed = nn.Linear(patch * patch, dim)
        self.blocks = nn.Sequential(*[MixerBlock(tokens, dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, img):
        p = self.patch
        t = F.unfold(img, kernel_size=p, stride=p).transpose(1, 2)
        return self.head(self.norm(self.blocks(self.embed(t))).mean(1))


def load(seed):
    d = load_digits()
    xtr, xte, ytr, yte = train_test_split(d.images / 16.0, d.target, test_size=0.3, random_state=seed)
    f = lambda a: torch.tensor(a, dtype=torch.float32).unsqueeze(1)
    return f(xtr), torch.tensor(ytr), f(xte), torch.tensor(yte)


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x)
    out = out.float()
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    xtr, ytr, xte, yte = load(args.seed)
    model = PatchMixer(args.dim).to(torch.bfloat16)
    print(f"{sum(p.numel() for p in model.parameters())} parameters")
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, total_iters=100)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(xtr)).split(args.batch_size):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                out = model(xtr[idx])
            loss = F.cross_entropy(out.float(), ytr[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            warmup.step()
            total += loss.item() * len(idx)
        if epoch % 5 == 0:
            nll, acc = evaluate(model, xte, yte)
            print(f"epoch {epoch:2d}  train {total / len(xtr):.3f}  test nll {nll:.3f}  test acc {acc:.3f}")


if __name__ == "__main__":
    main()
