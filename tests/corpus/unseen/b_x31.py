"""CNN with BatchNorm on digits, small batches, best checkpoint kept."""
import copy

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(55)
imgs = torch.tensor(load_digits().images).float().unsqueeze(1) / 8 - 1
tgts = torch.tensor(load_digits().target)
train_loader = DataLoader(TensorDataset(imgs[:1300], tgts[:1300]), batch_size=26, shuffle=True)
val_loader = DataLoader(TensorDataset(imgs[1300:], tgts[1300:]), batch_size=8, shuffle=False)


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.Dropout2d(0.2))


cnn = nn.Sequential(block(1, 8), nn.MaxPool2d(2), block(8, 16), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Dropout(0.4), nn.Linear(64, 10))
optimizer = torch.optim.AdamW(cnn.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss()
best_acc, best_weights = 0.0, None

for epoch in range(4):
    cnn.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(cnn(x), y)
        loss.backward()
        optimizer.step()

    right = 0
    with torch.no_grad():
        for x, y in val_loader:
            right += (cnn(x).argmax(dim=1) == y).sum().item()
    acc = right / len(val_loader.dataset)
    print(f"[{epoch}] loss {loss.item():.3f} val {acc:.3f}")
    if acc > best_acc:
        best_acc, best_weights = acc, copy.deepcopy(cnn.state_dict())

cnn.load_state_dict(best_weights)
print("best", best_acc)
