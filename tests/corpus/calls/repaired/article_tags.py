"""Several tags per article from its bag of words, with a margin loss between right and wrong tags."""
import argparse

import numpy as np
import torch
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score, label_ranking_average_precision_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=6)
parser.add_argument("--epochs", type=int, default=20)
parser.add_argument("--batch_size", type=int, default=64)
parser.add_argument("--lr", type=float, default=2e-3)
args = parser.parse_args()
torch.manual_seed(args.seed)
np.random.seed(args.seed)

N_TAGS = 12


class Articles(Dataset):
    def __init__(self, counts, tags):
        self.counts = torch.tensor(np.log1p(counts), dtype=torch.float32)
        self.tags = torch.tensor(tags)

    def __len__(self):
        return len(self.counts)

    def __getitem__(self, i):
        return self.counts[i], self.tags[i]


class TagNet(nn.Module):
    def __init__(self, n_words):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_words, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, N_TAGS)
        )

    def forward(self, x):
        return self.layers(x)


def make_data():
    x, y = make_multilabel_classification(
        n_samples=4000, n_features=60, n_classes=N_TAGS, n_labels=3, allow_unlabeled=False, random_state=args.seed
    )
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=args.seed)
    return Articles(x_tr, y_tr), Articles(x_te, y_te)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    scores, truth = [], []
    for x, y in loader:
        scores.append(model(x))
        truth.append(y)
    scores, truth = torch.cat(scores).numpy(), torch.cat(truth).numpy()
    best = np.argsort(-scores, axis=1)
    guess = np.zeros_like(truth)
    for row, order, k in zip(guess, best, truth.sum(1)):
        row[order[:k]] = 1
    return label_ranking_average_precision_score(truth, scores), f1_score(truth, guess, average="micro")


def main():
    train_set, test_set = make_data()
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=500)
    model = TagNet(60)
    criterion = nn.MultiLabelSoftMarginLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for x, y in train_loader:
            loss = criterion(model(x), y.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        if epoch % 4 == 0:
            lrap, f1 = evaluate(model, test_loader)
            print(f"epoch {epoch:2d} loss {total / len(train_set):.4f} test LRAP {lrap:.3f} micro F1 {f1:.3f}")


if __name__ == "__main__":
    main()
