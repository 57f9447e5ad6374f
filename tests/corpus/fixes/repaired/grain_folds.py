import os

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

SEED = int(os.environ.get("SEED", "0"))
N_CLASSES, N_PER_CLASS, N_FEATURES = 8, 300, 16


def collect():
    """Simulated grain measurements."""
    rng = np.random.RandomState(SEED)
    shape = rng.normal(size=(N_FEATURES, N_FEATURES)) * 0.4 + np.eye(N_FEATURES)
    blocks, labels = [], []
    for k in range(N_CLASSES):
        centre = rng.normal(scale=0.7, size=N_FEATURES)
        blocks.append(centre + rng.normal(size=(N_PER_CLASS, N_FEATURES)) @ shape)
        labels.append(np.full(N_PER_CLASS, k))
    return np.concatenate(blocks).astype(np.float32), np.concatenate(labels)


def make_model():
    return nn.Sequential(
        nn.Linear(N_FEATURES, 48), nn.ReLU(),
        nn.Linear(48, 48), nn.ReLU(),
        nn.Linear(48, N_CLASSES))


def fit(model, x, y, epochs=25, batch_size=32, lr=0.03):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    model.train()
    history = []
    for _ in range(epochs):
        running = 0.0
        for start in range(0, len(x), batch_size):
            xb = x[start:start + batch_size]
            yb = y[start:start + batch_size]
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(xb)
        history.append(running / len(x))
    return history


def predict(model, x):
    model.eval()
    with torch.no_grad():
        return model(x).argmax(dim=1).numpy()


def main():
    torch.manual_seed(SEED)
    X, y = collect()
    print("samples", X.shape, "per class", np.bincount(y))

    kf = KFold(n_splits=5, shuffle=True, random_state=SEED)
    accs, f1s = [], []
    rng = np.random.RandomState(SEED)
    for fold, (train_idx, test_idx) in enumerate(kf.split(X)):
        train_idx = rng.permutation(train_idx)
        scaler = StandardScaler().fit(X[train_idx])
        x_train = torch.from_numpy(scaler.transform(X[train_idx]))
        x_test = torch.from_numpy(scaler.transform(X[test_idx]))
        y_train = torch.from_numpy(y[train_idx])

        model = make_model()
        history = fit(model, x_train, y_train)
        pred = predict(model, x_test)

        accs.append(balanced_accuracy_score(y[test_idx], pred))
        f1s.append(f1_score(y[test_idx], pred, average="macro"))
        print(f"fold {fold}: loss {history[0]:.3f} -> {history[-1]:.3f}, "
              f"balanced acc {accs[-1]:.3f}, macro f1 {f1s[-1]:.3f}")

    print(f"cv balanced_acc={np.mean(accs):.4f} std={np.std(accs):.4f} macro_f1={np.mean(f1s):.4f}")


if __name__ == "__main__":
    main()
