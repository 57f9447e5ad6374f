"""One trunk, two heads on the digits: the class and a scale reading of the ink, with learned task weights."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class MultiTaskLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_var_cls = nn.Parameter(torch.zeros(()))
        self.log_var_ink = nn.Parameter(torch.zeros(()))

    def forward(self, cls_loss, ink_loss):
        cls_term = torch.exp(-self.log_var_cls) * cls_loss + 0.5 * self.log_var_cls
        ink_term = 0.5 * torch.exp(-self.log_var_ink) * ink_loss + 0.5 * self.log_var_ink
        return cls_term + ink_term


class PanelNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.cls_head = nn.Linear(width, 10)
        self.ink_head = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.cls_head(h), self.ink_head(h).squeeze(1)


def load(seed):
    images, labels = load_digits(return_X_y=True)
    x = torch.tensor(images / 16.0, dtype=torch.float32)
    ink = torch.tensor(images.reshape(-1, 8, 8)[:, 2:6].sum(axis=(1, 2)), dtype=torch.float32)
    ink = (ink - ink.mean()) / 8 + 12.0 * torch.randn(len(ink))
    y = torch.tensor(labels)
    tr, te = train_test_split(torch.arange(len(x)).numpy(), test_size=0.3, random_state=seed, stratify=labels)
    return (x[tr], y[tr], ink[tr]), (x[te], y[te], ink[te])


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    x, y, ink = data
    logits, pred = model(x)
    acc = (logits.argmax(1) == y).float().mean().item()
    mae = (pred - ink).abs().mean().item()
    return acc, mae


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.005)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train, test = load(args.seed)
    model = PanelNet()
    criterion = MultiTaskLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        sums = torch.zeros(2)
        for idx in torch.randperm(len(train[0])).split(32):
            x, y, ink = (t[idx] for t in train)
            logits, pred = model(x)
            cls_loss = F.cross_entropy(logits, y)
            ink_loss = F.mse_loss(pred, ink)
            loss = criterion(cls_loss, ink_loss)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums += torch.tensor([cls_loss.item(), ink_loss.item()]) * len(idx)
        if epoch % 8 == 0:
            acc, mae = evaluate(model, test)
            c, i = (sums / len(train[0])).tolist()
            print(f"epoch {epoch:2d}  class loss {c:.3f}  ink loss {i:.1f}  test acc {acc:.3f}  test ink error {mae:.2f}")


if __name__ == "__main__":
    main()
