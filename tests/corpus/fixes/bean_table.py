"""Classify named groups from a small measurement table stored as two CSV files."""
import csv
import os
import random
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

NAMES = ["cali", "horoz", "bombay", "seker", "sira", "dermason", "barbunya", "pinto"]
N_FEATURES = 12


def write_tables(folder, rng):
    centres = {name: [rng.gauss(0, 1.3) for _ in range(N_FEATURES)] for name in NAMES}
    paths = []
    for split, per_class in (("train", 200), ("test", 80)):
        rows = []
        for name in NAMES:
            for _ in range(per_class):
                rows.append([c + rng.gauss(0, 1.0) for c in centres[name]] + [name])
        rng.shuffle(rows)
        path = os.path.join(folder, split + ".csv")
        with open(path, "w", newline="") as handle:
            writer = csv.writer(handle)
            writer.writerow([f"f{i}" for i in range(N_FEATURES)] + ["group"])
            writer.writerows(rows)
        paths.append(path)
    return paths


class TableDataset(Dataset):
    def __init__(self, path, stats=None):
        with open(path, newline="") as handle:
            reader = csv.reader(handle)
            self.columns = next(reader)
            rows = list(reader)
        x = torch.tensor([[float(v) for v in r[:-1]] for r in rows])
        groups = [r[-1] for r in rows]
        self.classes = list(dict.fromkeys(groups))
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.y = torch.tensor([self.class_to_idx[g] for g in groups])
        self.stats = stats or (x.mean(0), x.std(0))
        self.x = (x - self.stats[0]) / self.stats[1]

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def build_model(n_classes):
    return nn.Sequential(
        nn.Linear(N_FEATURES, 64), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(64, n_classes),
    )


def run(model, loader, criterion, optimizer=None):
    model.train(optimizer is not None)
    loss_sum, hits, n = 0.0, 0, 0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            out = model(x)
            loss = criterion(out, y)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            loss_sum += loss.item() * len(y)
            hits += int((out.argmax(1) == y).sum())
            n += len(y)
    return loss_sum / n, hits / n


def main():
    seed = int(os.environ.get("SEED", "0"))
    torch.manual_seed(seed)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        train_path, test_path = write_tables(folder, rng)
        train_set = TableDataset(train_path)
        test_set = TableDataset(test_path, stats=train_set.stats)
    print(f"train rows {len(train_set)}  test rows {len(test_set)}  groups {len(train_set.classes)}")

    train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=128)
    model = build_model(len(train_set.classes))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
    epochs = 70
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        tr = run(model, train_loader, criterion, optimizer)
        te = run(model, test_loader, criterion)
        schedule.step()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1:2d} | train {tr[0]:.3f} / {tr[1]:.3f} | test {te[0]:.3f} / {te[1]:.3f}")
    print(f"train_acc={tr[1]:.4f} test_acc={te[1]:.4f} test_loss={te[0]:.4f}")


if __name__ == "__main__":
    main()
