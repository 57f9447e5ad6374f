"""Customer churn, 5-fold cross-validation of an MLP to choose settings, then one check on customers set aside."""
import argparse

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn


class ChurnNet(nn.Module):
    def __init__(self, n_in, width):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


class Experiment:
    def __init__(self, args):
        self.args = args
        self.criterion = nn.BCEWithLogitsLoss()

    def fit(self, model, x, y):
        optimizer = torch.optim.Adam(model.parameters(), lr=self.args.lr, weight_decay=1e-5)
        x, y = torch.as_tensor(x, dtype=torch.float32), torch.as_tensor(y, dtype=torch.float32)
        model.train()
        for epoch in range(self.args.epochs):
            total = 0.0
            for idx in torch.randperm(len(y)).split(self.args.batch):
                loss = self.criterion(model(x[idx]), y[idx])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(idx)
        return total / len(y)

    @torch.no_grad()
    def score(self, model, x, y):
        model.eval()
        p = torch.sigmoid(model(torch.as_tensor(x, dtype=torch.float32))).numpy()
        return accuracy_score(y, p > 0.5), roc_auc_score(y, p)

    def cross_validate(self, x, y):
        model = ChurnNet(x.shape[1], self.args.width)
        folds = KFold(n_splits=self.args.folds, shuffle=True, random_state=self.args.seed)
        rows = []
        for k, (train_idx, val_idx) in enumerate(folds.split(x)):
            scaler = StandardScaler().fit(x[train_idx])
            loss = self.fit(model, scaler.transform(x[train_idx]), y[train_idx])
            acc, auc = self.score(model, scaler.transform(x[val_idx]), y[val_idx])
            rows.append((acc, auc))
            print(f"fold {k}: train loss {loss:.4f}  val acc {acc:.4f}  auc {auc:.4f}")
        return np.array(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    x, y = make_classification(n_samples=1800, n_features=24, n_informative=8, n_redundant=4, n_clusters_per_class=3,
                               flip_y=0.25, class_sep=0.8, random_state=args.seed)
    x, x_aside, y, y_aside = train_test_split(x, y, test_size=600, stratify=y, random_state=args.seed)
    experiment = Experiment(args)
    rows = experiment.cross_validate(x, y)
    print(f"cross-validation: acc {rows[:, 0].mean():.4f} +- {rows[:, 0].std():.4f}  auc {rows[:, 1].mean():.4f}")
    scaler = StandardScaler().fit(x)
    final = ChurnNet(x.shape[1], args.width)
    experiment.fit(final, scaler.transform(x), y)
    acc, auc = experiment.score(final, scaler.transform(x_aside), y_aside)
    print(f"customers set aside: acc {acc:.4f}  auc {auc:.4f}")


if __name__ == "__main__":
    main()
