"""Alarm for pipe leaks: train a scorer, then set the alarm level so that at most a tenth of the leaks is missed."""
import argparse

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import precision_recall_fscore_support
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=12)
parser.add_argument("--epochs", type=int, default=15)
parser.add_argument("--min_recall", type=float, default=0.9)
args = parser.parse_args()
np.random.seed(args.seed)
torch.manual_seed(args.seed)


def prepare():
    x, y = make_classification(
        n_samples=9000, n_features=20, n_informative=8, n_clusters_per_class=3, weights=[0.85],
        class_sep=0.9, flip_y=0.02, random_state=args.seed,
    )
    x_tr, x_rest, y_tr, y_rest = train_test_split(x, y, test_size=0.5, stratify=y, random_state=args.seed)
    x_va, x_te, y_va, y_te = train_test_split(x_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=args.seed)
    scaler = StandardScaler().fit(x_tr)
    return [(torch.tensor(scaler.transform(a), dtype=torch.float32), torch.tensor(b, dtype=torch.float32))
            for a, b in ((x_tr, y_tr), (x_va, y_va), (x_te, y_te))]


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


@torch.no_grad()
def scores(model, x):
    model.eval()
    return torch.sigmoid(model(x)).numpy()


def report(labels, alarms):
    precision, recall, f1, _ = precision_recall_fscore_support(alarms, labels, average="binary", zero_division=0)
    return precision, recall, f1


def choose_level(prob, labels):
    """Highest level that still gives the wanted recall on the validation part."""
    best = 0.02
    for level in np.arange(0.02, 0.99, 0.01):
        _, recall, _ = report(labels, (prob >= level).astype(int))
        if recall >= args.min_recall:
            best = level
    return best


def main():
    (x_tr, y_tr), (x_va, y_va), (x_te, y_te) = prepare()
    model = Scorer()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, weight_decay=1e-4)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(x_tr)).split(64):
            loss = criterion(model(x_tr[idx]), y_tr[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        if epoch % 3 == 0:
            p, r, f = report(y_va.int().numpy(), (scores(model, x_va) >= 0.5).astype(int))
            print(f"epoch {epoch} loss {total / len(x_tr):.4f} val precision {p:.3f} recall {r:.3f} f1 {f:.3f}")
    level = choose_level(scores(model, x_va), y_va.int().numpy())
    alarms, leaks = scores(model, x_te) >= level, y_te.numpy() == 1
    p, r, f = report(leaks.astype(int), alarms.astype(int))
    print(f"alarm level {level:.2f}: test precision {p:.3f} recall {r:.3f} f1 {f:.3f}")
    print(f"leaks in the test part {leaks.sum()}, alarms {alarms.sum()}, leaks without alarm {(leaks & ~alarms).sum()}")


if __name__ == "__main__":
    main()
