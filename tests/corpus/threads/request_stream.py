"""Slow-request classifier that reads server log lines as a stream."""
import argparse
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, IterableDataset

ROUTES = ["/home", "/cart", "/search", "/login", "/export", "/report", "/feed", "/admin"]
HOSTS = ["web1", "web2", "web3", "db1"]


def write_line(rng):
    route, host = rng.choice(ROUTES), rng.choice(HOSTS)
    size, queue = rng.expovariate(1 / 40), rng.randint(0, 30)
    cost = 0.03 * size + 0.08 * queue + {"/export": 2.0, "/report": 1.5, "/search": 0.8}.get(route, 0.0)
    cost += 0.7 if host == "db1" else 0.0
    slow = int(cost + rng.gauss(0, 0.5) > 3.2)
    return f"host={host} route={route} kb={size:.2f} queue={queue} slow={slow}"


def parse(line):
    fields = dict(part.split("=") for part in line.split())
    x = torch.zeros(len(ROUTES) + len(HOSTS) + 2)
    x[ROUTES.index(fields["route"])] = 1.0
    x[len(ROUTES) + HOSTS.index(fields["host"])] = 1.0
    x[-2] = float(fields["kb"]) / 40
    x[-1] = float(fields["queue"]) / 15 - 1
    return x, torch.tensor(float(fields["slow"]))


class LogStream(IterableDataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def lines(self):
        rng = random.Random(self.seed)
        for _ in range(self.n):
            yield write_line(rng)

    def __iter__(self):
        for line in self.lines():
            yield parse(line)


class SlowNet(nn.Module):
    def __init__(self, hid=384):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(len(ROUTES) + len(HOSTS) + 2, hid), nn.ReLU(),
                                 nn.Linear(hid, hid), nn.ReLU(), nn.Linear(hid, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def train_epoch(model, loader, optimizer):
    model.train()
    total = rows = steps = 0
    for x, y in loader:
        loss = F.binary_cross_entropy_with_logits(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        rows += len(y)
        steps += 1
    return total / rows, rows, steps


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = rows = 0
    for x, y in loader:
        hits += ((model(x) > 0) == y.bool()).sum().item()
        rows += len(y)
    return hits / rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--workers", type=int, default=3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train = DataLoader(LogStream(9000, args.seed), batch_size=64, num_workers=args.workers)
    test = DataLoader(LogStream(1500, args.seed + 1000), batch_size=256)
    model = SlowNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(1, args.epochs + 1):
        start = time.perf_counter()
        loss, rows, steps = train_epoch(model, train, optimizer)
        took = time.perf_counter() - start
        print(f"epoch {epoch}  {rows} rows in {steps} steps, {took:.1f} s  loss {loss:.3f}  test acc {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()
