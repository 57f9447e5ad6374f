"""Tagger on strings of uneven length; a step is taken when enough tokens have been seen."""
import argparse

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=13)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--micro", type=int, default=8)
parser.add_argument("--tokens_per_step", type=int, default=800)
parser.add_argument("--lr", type=float, default=4e-3)
args = parser.parse_args()
torch.manual_seed(args.seed)

SYMBOLS, PAD = 12, -1


def corpus(n):
    """Tag of a position: 0..2 by (running sum of the last three symbols) mod 3."""
    items = []
    for _ in range(n):
        x = torch.randint(SYMBOLS, (int(torch.randint(5, 60, (1,))),))
        s = x.clone()
        s[1:] += x[:-1]
        s[2:] += x[:-2]
        items.append((x, s % 3))
    return items


def batches(items, size):
    order = torch.randperm(len(items)).tolist()
    for i in range(0, len(order), size):
        xs, ys = zip(*(items[j] for j in order[i : i + size]))
        yield pad_sequence(xs, batch_first=True), pad_sequence(ys, batch_first=True, padding_value=PAD)


class Tagger(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.embed = nn.Embedding(SYMBOLS, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 3))

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


def apply_step(model, optimizer, n_tokens):
    for p in model.parameters():
        p.grad /= n_tokens
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    return norm.item()


@torch.no_grad()
def accuracy(model, items):
    model.eval()
    hits = total = 0
    for x, y in batches(items, 64):
        seen = y != PAD
        hits += (model(x).argmax(-1) == y)[seen].sum().item()
        total += seen.sum().item()
    model.train()
    return hits / total


def main():
    train, test = corpus(1600), corpus(400)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, reduction="sum")
    pending = 0
    for epoch in range(1, args.epochs + 1):
        loss_sum = tokens = steps = 0
        for x, y in batches(train, args.micro):
            loss = criterion(model(x).flatten(0, 1), y.flatten())
            loss.backward()
            n = (y != PAD).sum().item()
            loss_sum, tokens, pending = loss_sum + loss.item(), tokens + n, pending + n
            if pending >= args.tokens_per_step:
                norm = apply_step(model, optimizer, pending)
                pending, steps = 0, steps + 1
        print(f"epoch {epoch} steps {steps} loss/token {loss_sum / tokens:.4f} last norm {norm:.3f} "
              f"test acc {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
