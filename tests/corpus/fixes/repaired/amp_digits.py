import argparse
import os

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn


def get_args():
    p = argparse.ArgumentParser(description="digits with a residual conv net")
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--max-norm", type=float, default=1.0)
    p.add_argument("--no-amp", action="store_true")
    return p.parse_args()


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c), nn.ReLU(),
            nn.Conv2d(c, c, 3, padding=1, bias=False), nn.BatchNorm2d(c))

    def forward(self, x):
        return torch.relu(x + self.body(x))


def make_net(c=16):
    return nn.Sequential(
        nn.Conv2d(1, c, 3, padding=1), nn.ReLU(), Block(c),
        nn.MaxPool2d(2), Block(c), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(4 * c, 10))


class Trainer:
    def __init__(self, net, args, device="cpu"):
        self.net = net
        self.device = device
        self.amp = not args.no_amp
        self.max_norm = args.max_norm
        self.optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9,
                                         weight_decay=5e-4, nesterov=True)
        self.scaler = torch.amp.GradScaler(device, enabled=self.amp)
        self.criterion = nn.CrossEntropyLoss()

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.amp):
            logits = self.net(x)
            loss = self.criterion(logits, y)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.net.parameters(), self.max_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()

    @torch.no_grad()
    def test(self, x, y):
        self.net.eval()
        logits = self.net(x)
        acc = (logits.argmax(1) == y).float().mean().item()
        return self.criterion(logits, y).item(), acc


def main():
    args = get_args()
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)

    data = load_digits()
    parts = train_test_split(data.images, data.target, test_size=0.25, random_state=seed,
                             stratify=data.target)
    x_tr, x_te = (torch.tensor(a, dtype=torch.float32).unsqueeze(1) / 16 for a in parts[:2])
    y_tr, y_te = (torch.tensor(a) for a in parts[2:])

    trainer = Trainer(make_net(), args)
    for epoch in range(1, args.epochs + 1):
        trainer.net.train()
        losses = []
        for idx in torch.randperm(len(x_tr)).split(args.batch):
            losses.append(trainer.step(x_tr[idx], y_tr[idx]))
        test_loss, test_acc = trainer.test(x_te, y_te)
        print(f"epoch {epoch:2d}  train_loss {sum(losses) / len(losses):.4f}  "
              f"test_loss {test_loss:.4f}  test_acc {test_acc:.4f}")
    print(f"final train_loss={sum(losses) / len(losses):.4f} test_acc={test_acc:.4f}")


if __name__ == "__main__":
    main()
