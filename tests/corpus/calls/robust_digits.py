"""Adversarial training on digits: every batch is attacked by projected gradient steps before the update."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=15)
ap.add_argument("--micro", type=int, default=40)
ap.add_argument("--accumulate", type=int, default=2)
ap.add_argument("--eps", type=float, default=0.1)
ap.add_argument("--attack-steps", type=int, default=4)
ap.add_argument("--lr", type=float, default=4e-3)
ap.add_argument("--seed", type=int, default=12)
args = ap.parse_args()


def build():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10),
    )


def attack(model, x, y, eps, steps):
    """Signed ascent inside the box |delta| <= eps; asks for the gradient of the input only."""
    delta = torch.empty_like(x).uniform_(-eps, eps)
    for _ in range(steps):
        delta.requires_grad_(True)
        loss = F.cross_entropy(model(x + delta), y)
        (grad,) = torch.autograd.grad(loss, delta)
        delta = (delta.detach() + 2.5 * eps / steps * grad.sign()).clamp(-eps, eps)
        delta = (x + delta).clamp(0, 1) - x
    return (x + delta).detach()


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


torch.manual_seed(args.seed)
images, labels = load_digits(return_X_y=True)
x_tr, x_te, y_tr, y_te = train_test_split(images / 16.0, labels, test_size=400, stratify=labels, random_state=args.seed)
x_tr, x_te = (torch.tensor(a, dtype=torch.float32).view(-1, 1, 8, 8) for a in (x_tr, x_te))
y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

model = build()
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
optimizer.zero_grad()
for epoch in range(args.epochs):
    total, seen = 0.0, 0
    groups = torch.randperm(len(y_tr)).split(args.micro * args.accumulate)
    for group in groups:
        for idx in group.split(args.micro):
            adversarial = attack(model, x_tr[idx], y_tr[idx], args.eps, args.attack_steps)
            loss = F.cross_entropy(model(adversarial), y_tr[idx], reduction="sum") / len(group)
            loss.backward()
            total += loss.item() * len(group)
            seen += len(idx)
        optimizer.step()
        optimizer.zero_grad()
    if epoch % 5 == 4:
        hard = attack(model, x_te, y_te, args.eps, 10)
        print(f"epoch {epoch:2d}  loss under attack {total / seen:.4f}  clean acc {accuracy(model, x_te, y_te):.4f}  "
              f"attacked acc {accuracy(model, hard, y_te):.4f}")

plain = build()
optimizer = torch.optim.Adam(plain.parameters(), lr=args.lr)
for step in range(400):
    idx = torch.randint(0, len(y_tr), (80,))
    optimizer.zero_grad()
    F.cross_entropy(plain(x_tr[idx]), y_tr[idx]).backward()
    optimizer.step()
hard = attack(plain, x_te, y_te, args.eps, 10)
print(f"for comparison, trained on clean images: clean acc {accuracy(plain, x_te, y_te):.4f}  "
      f"attacked acc {accuracy(plain, hard, y_te):.4f}")
