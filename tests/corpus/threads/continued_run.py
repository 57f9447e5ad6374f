"""Trains in two sittings: the second one continues from the first one's checkpoint."""
import argparse
import io

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters()}
        self.backup = {}

    @torch.no_grad()
    def update(self, model):
        for n, p in model.named_parameters():
            self.shadow[n].mul_(self.decay).add_(p, alpha=1 - self.decay)

    @torch.no_grad()
    def assign(self, model):
        for n, p in model.named_parameters():
            self.backup[n] = p.detach().clone()
            p.copy_(self.shadow[n])

    @torch.no_grad()
    def restore(self, model):
        for n, p in model.named_parameters():
            p.copy_(self.backup[n])


class Trainer:
    def __init__(self, args, data, checkpoint=None):
        self.data = data
        self.model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        self.ema = EMA(self.model, args.decay)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        self.start_epoch = 1
        if checkpoint is not None:
            self.resume(checkpoint)

    def resume(self, checkpoint):
        checkpoint.seek(0)
        state = torch.load(checkpoint)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.start_epoch = state["epoch"] + 1

    def save(self, epoch):
        buffer = io.BytesIO()
        self.ema.assign(self.model)
        weights = {k: v.clone() for k, v in self.model.state_dict().items()}
        self.ema.restore(self.model)
        torch.save({"model": weights, "optimizer": self.optimizer.state_dict(), "epoch": epoch}, buffer)
        return buffer

    def train_epoch(self):
        x, y = self.data[0]
        self.model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(64):
            loss = F.cross_entropy(self.model(x[idx]), y[idx])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.ema.update(self.model)
            total += loss.item() * len(idx)
        return total / len(x)

    @torch.no_grad()
    def test(self):
        x, y = self.data[1]
        self.ema.assign(self.model)
        self.model.eval()
        out = self.model(x)
        self.ema.restore(self.model)
        return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()

    def run(self, until):
        for epoch in range(self.start_epoch, until + 1):
            loss = self.train_epoch()
            test_loss, acc = self.test()
            print(f"epoch {epoch:2d}  train loss {loss:.4f}  test loss {test_loss:.3f}  test acc {acc:.3f}")
        return self.save(until)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--decay", type=float, default=0.995)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images / 16.0, dtype=torch.float32), torch.tensor(labels)
    tr, te = train_test_split(range(len(x)), test_size=0.3, random_state=args.seed, stratify=labels)
    data = (x[tr], y[tr]), (x[te], y[te])
    print("first sitting")
    checkpoint = Trainer(args, data).run(until=20)
    print("second sitting")
    Trainer(args, data, checkpoint).run(until=25)


if __name__ == "__main__":
    main()
