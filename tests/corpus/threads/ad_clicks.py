"""Click prediction from categorical columns with embeddings."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import LabelEncoder

COLUMNS = {"site": 60, "campaign": 45, "device": 12}


def make_log(n, rng, effects):
    table = {}
    logit = np.full(n, -1.0)
    for name, size in COLUMNS.items():
        popularity = 1.0 / np.arange(1, size + 1) ** 1.1
        codes = rng.choice(size, size=n, p=popularity / popularity.sum())
        names = np.array([f"{name}_{(k * 37) % 101:03d}" for k in range(size)])
        table[name] = names[codes]
        logit += effects[name][codes]
    table["hour"] = rng.uniform(0, 24, n)
    logit += 0.6 * np.sin(table["hour"] / 24 * 2 * np.pi)
    clicked = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    return table, clicked


class Preprocessor:
    def __init__(self):
        self.encoders = {name: LabelEncoder() for name in COLUMNS}

    def encode(self, table):
        cats = [self.encoders[name].fit_transform(table[name]) for name in COLUMNS]
        hour = table["hour"] / 24 * 2 * np.pi
        nums = np.stack([np.sin(hour), np.cos(hour)], axis=1)
        return torch.tensor(np.stack(cats, axis=1)), torch.tensor(nums, dtype=torch.float32)

    def fit(self, table):
        for name, enc in self.encoders.items():
            enc.fit(table[name])
        return self


class ClickNet(nn.Module):
    def __init__(self, sizes, dim=8):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(s, dim) for s in sizes)
        self.net = nn.Sequential(nn.Linear(dim * len(sizes) + 2, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, cats, nums):
        parts = [emb(cats[:, i]) for i, emb in enumerate(self.embeddings)]
        return self.net(torch.cat(parts + [nums], dim=1)).squeeze(1)


@torch.no_grad()
def evaluate(model, cats, nums, y):
    model.eval()
    logits = model(cats, nums)
    return F.binary_cross_entropy_with_logits(logits, y).item(), roc_auc_score(y.numpy(), logits.numpy())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    effects = {name: rng.normal(size=size) * 0.9 for name, size in COLUMNS.items()}
    history, clicks = make_log(6000, rng, effects)
    today, today_clicks = make_log(400, rng, effects)
    prep = Preprocessor().fit(history)
    cats, nums = prep.encode(history)
    y = torch.tensor(clicks)
    test = (*prep.encode(today), torch.tensor(today_clicks))
    model = ClickNet(list(COLUMNS.values()))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-5)
    for epoch in range(1, args.epochs + 1):
        model.train()
        for idx in torch.randperm(len(y)).split(64):
            loss = F.binary_cross_entropy_with_logits(model(cats[idx], nums[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        train_loss, train_auc = evaluate(model, cats, nums, y)
        test_loss, auc = evaluate(model, *test)
        print(f"epoch {epoch}  train loss {train_loss:.3f}  train AUC {train_auc:.3f}  test loss {test_loss:.3f}  test AUC {auc:.3f}")


if __name__ == "__main__":
    main()
