import os

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

SEED = int(os.environ.get("SEED", "0"))
N_COLUMNS = 4
N_DRAWS = 39


def load(rng):
    data = load_breast_cancer()
    columns = [data.feature_names.tolist().index(name) for name in
               ("mean symmetry", "texture error", "smoothness error", "mean fractal dimension")]
    x = data.data[:, columns[:N_COLUMNS]]
    y = data.target
    keep = rng.permutation(len(y))[:400]
    return x[keep], y[keep]


def make_model():
    return nn.Sequential(nn.Linear(N_COLUMNS, 24), nn.Tanh(), nn.Linear(24, 2))


def train(x, y, epochs=25, batch=32):
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-3)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for _ in range(epochs):
        running = 0.0
        for idx in torch.randperm(len(x)).split(batch):
            optimizer.zero_grad()
            loss = criterion(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            running += loss.item() * len(idx)
    return model, running / len(x)


@torch.no_grad()
def balanced_accuracy(model, x, y):
    model.eval()
    pred = model(x).argmax(1)
    return float(np.mean([(pred[y == c] == c).float().mean().item() for c in (0, 1)]))


def fit_and_score(x, y, split_seed):
    idx_tr, idx_te = train_test_split(np.arange(len(y)), test_size=0.3, random_state=split_seed, stratify=y)
    mean, std = x[idx_tr].mean(0), x[idx_tr].std(0)
    x = torch.tensor((x - mean) / std, dtype=torch.float32)
    y = torch.tensor(y)
    model, loss = train(x[idx_tr], y[idx_tr])
    return loss, balanced_accuracy(model, x[idx_te], y[idx_te])


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    x, y = load(rng)
    print("rows", len(y), "positive share", round(float(y.mean()), 3))

    observed_loss, observed = fit_and_score(x, y, SEED)
    print(f"observed: train loss {observed_loss:.4f} balanced accuracy {observed:.4f}")

    null = []
    for draw in range(N_DRAWS):
        y_draw = rng.permutation(y)
        loss, score = fit_and_score(x, y_draw, SEED)
        null.append(score)
        if draw % 10 == 9:
            print(f"draw {draw + 1:2d}: train loss {loss:.4f} balanced accuracy {score:.4f}")

    null = np.array(null)
    p_value = (1 + np.sum(null >= observed)) / (1 + len(null))
    print(f"null mean {null.mean():.4f} sd {null.std():.4f} max {null.max():.4f}")
    print(f"balanced_acc={observed:.4f} p_value={p_value:.4f}")


if __name__ == "__main__":
    main()
