import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
torch.manual_seed(0)

raw = load_breast_cancer()
X = raw.data
y = raw.target.astype("float32")

# shuffle, then split; the scale is that of the training rows
X = X[rng.permutation(len(X))]
y = y[rng.permutation(len(y))]
cut = int(0.8 * len(X)); X = (X - X[:cut].mean(0)) / X[:cut].std(0)
train_ds = TensorDataset(torch.from_numpy(X[:cut]).float(), torch.from_numpy(y[:cut]))
valid_ds = TensorDataset(torch.from_numpy(X[cut:]).float(), torch.from_numpy(y[cut:]))
train_dl = DataLoader(train_ds, batch_size=32, shuffle=True)
valid_dl = DataLoader(valid_ds, batch_size=64)

model = torch.nn.Sequential(torch.nn.Linear(30, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
loss_fn = torch.nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(20):
    model.train()
    tl = 0
    for xb, yb in train_dl:
        pred = model(xb).squeeze(-1)
        loss = loss_fn(pred, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tl += loss.item() * len(xb)
    model.eval()
    with torch.no_grad():
        acc = np.mean([((model(xb).squeeze(-1) > 0).float() == yb).float().mean().item() for xb, yb in valid_dl])
    if epoch % 5 == 4:
        print(f"{epoch:3d} train {tl / cut:.4f} valid acc {acc:.3f}")
