"""Linear-probe style evaluation: standardised features, small MLP, held-out score."""
import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn


class TorchMLPClassifier:
    def __init__(self, hidden=(32,), max_iter=60, lr=5e-3, batch_size=16, seed=0):
        self.hidden, self.max_iter, self.lr = hidden, max_iter, lr
        self.batch_size, self.seed = batch_size, seed

    def _build(self, d, c):
        sizes, layers = (d, *self.hidden), []
        for a, b in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(sizes[-1], c))

    def fit(self, X, y, X_val, y_val):
        torch.manual_seed(self.seed)
        X, y = torch.as_tensor(X).float(), torch.as_tensor(y)
        self.net = self._build(X.shape[1], int(y.max()) + 1)
        opt = torch.optim.Adam(self.net.parameters(), lr=self.lr)
        for it in range(self.max_iter):
            for rows in torch.randperm(len(X)).split(self.batch_size):
                loss = nn.functional.cross_entropy(self.net(X[rows]), y[rows])
                opt.zero_grad()
                loss.backward()
                opt.step()
            if it % 15 == 14:
                print(f"iter {it + 1} loss {loss.item():.4f} val {self.score(X_val, y_val):.3f}")
        return self

    @torch.no_grad()
    def score(self, X, y):
        pred = self.net(torch.as_tensor(X).float()).argmax(1).numpy()
        return float(np.mean(pred == y))


def evaluate(seed):
    X, y = load_wine(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
    X_train, X_val, y_train, y_val = train_test_split(X_train, y_train, test_size=0.2, random_state=seed, stratify=y_train)
    scaler = StandardScaler()
    X_train = scaler.fit_transform(X_train)
    X_test = scaler.transform(X_test)
    clf = TorchMLPClassifier(seed=seed).fit(X_train, y_train, X_val, y_val)
    return clf.score(X_test, y_test)


print(f"test accuracy {evaluate(0):.3f}")
