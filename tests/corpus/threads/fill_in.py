"""Guess the hidden half of a digit from the visible half."""
import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_digits


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=2500)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--hide", type=float, default=0.5)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--dropout", type=float, default=0.3)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


class FillIn(nn.Module):
    """Gets the picture with holes and the map of the holes."""

    def __init__(self, dropout, hidden=256):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(128, hidden), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(hidden, hidden), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(hidden, 64))

    def forward(self, x, hidden):
        return self.net(torch.cat([x.masked_fill(hidden, 0.0), hidden.float()], dim=1))


def hole_loss(out, x, hidden):
    return ((out - x) ** 2 * hidden).sum() / hidden.sum()


def draw_holes(shape, share, gen=None):
    return torch.rand(shape, generator=gen) < share


@torch.no_grad()
def evaluate(model, x, hidden):
    model.eval()
    return hole_loss(model(x, hidden), x, hidden).item()


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    x = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
    x = x[torch.randperm(len(x))]
    train, test = x[:1400], x[1400:]
    center, scale = train.mean(0), train.std()
    train, test = (train - center) / scale, (test - center) / scale
    test_holes = draw_holes(test.shape, args.hide, torch.Generator().manual_seed(99))
    guess = hole_loss(torch.zeros_like(test), test, test_holes).item()
    print(f"mean digit as the guess: hole mse {guess:.3f}")

    model = FillIn(args.dropout)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.02)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.steps)
    running = 0.0
    for step in range(1, args.steps + 1):
        model.train()
        xb = train[torch.randint(0, len(train), (args.batch_size,))]
        holes = draw_holes(xb.shape, args.hide)
        loss = hole_loss(model(xb, holes), xb, holes)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        running += loss.item()
        if step % 250 == 0:
            print(f"step {step:5d}  train hole mse {running / 250:.3f}  test hole mse {evaluate(model, test, test_holes):.3f}")
            running = 0.0


if __name__ == "__main__":
    main()
