"""Reads a run of valve events and tells which of five services is due."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB = 40
CLASSES = 5
PAD = 0


def make_runs(n, gen):
    runs, labels = [], []
    for _ in range(n):
        length = int(torch.randint(4, 61, (1,), generator=gen))
        label = int(torch.randint(0, CLASSES, (1,), generator=gen))
        run = torch.randint(1, VOCAB, (length,), generator=gen)
        keep = torch.rand(length, generator=gen) < 0.35
        run[keep] = 1 + label * 3 + torch.randint(0, 3, (int(keep.sum()),), generator=gen)
        runs.append(run)
        labels.append(label)
    return runs, labels


def collate(runs, labels, idx):
    longest = max(len(runs[i]) for i in idx)
    x = torch.full((len(idx), longest), PAD)
    for row, i in enumerate(idx):
        x[row, :len(runs[i])] = runs[i]
    return x, torch.tensor([labels[i] for i in idx])


def bucket_batches(runs, size, gen):
    order = sorted(range(len(runs)), key=lambda i: len(runs[i]))
    groups = [order[i:i + size] for i in range(0, len(order), size)]
    for g in torch.randperm(len(groups), generator=gen).tolist():
        yield groups[g]


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.dk = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, self.dk).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.dk)
        scores = scores.masked_fill(mask[:, None, None, :] == 0, -1e9)
        ctx = scores.softmax(dim=-1) @ v
        return self.out(ctx.transpose(1, 2).reshape(b, t, d))


class RunClassifier(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.cls = nn.Parameter(torch.randn(1, 1, dim) * 0.1)
        self.attn = nn.ModuleList(SelfAttention(dim, heads) for _ in range(2))
        self.norm = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2))
        self.head = nn.Linear(dim, CLASSES)

    def forward(self, tokens):
        mask = F.pad(tokens != PAD, (1, 0), value=True)
        x = torch.cat([self.cls.expand(len(tokens), -1, -1), self.emb(tokens)], dim=1)
        for attn, norm in zip(self.attn, self.norm):
            x = norm(x + attn(x, mask))
        return self.head(x[:, 0])


@torch.no_grad()
def evaluate(model, runs, labels, size=100):
    model.eval()
    hits = loss = 0.0
    for i in range(0, len(runs), size):
        x, y = collate(runs, labels, range(i, min(i + size, len(runs))))
        out = model(x)
        loss += F.cross_entropy(out, y, reduction="sum").item()
        hits += (out.argmax(1) == y).sum().item()
    return loss / len(runs), hits / len(runs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    runs, labels = make_runs(1500, gen)
    test_runs, test_labels = make_runs(600, gen)
    model = RunClassifier()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for idx in bucket_batches(runs, 50, gen):
            x, y = collate(runs, labels, idx)
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        test_loss, acc = evaluate(model, test_runs, test_labels)
        print(f"epoch {epoch:2d}  train loss {total / len(runs):.3f}  test loss {test_loss:.3f}  test acc {acc:.3f}")


if __name__ == "__main__":
    main()
