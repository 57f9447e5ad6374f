"""Disease progression on the diabetes table: small regression net, R2 on the held-out part."""
import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset


class Regressor(nn.Module):
    def __init__(self, inputs, hid=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, hid), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(hid, hid), nn.ReLU(),
            nn.Linear(hid, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


def get_data(seed, batch_size):
    x, y = load_diabetes(return_X_y=True)
    x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.3, random_state=seed)
    x_scaler = StandardScaler().fit(x_train)
    y_scaler = StandardScaler().fit(y_train[:, None])

    def pack(a, b):
        return TensorDataset(torch.tensor(x_scaler.transform(a), dtype=torch.float32),
                             torch.tensor(y_scaler.transform(b[:, None])[:, 0], dtype=torch.float32))

    train = DataLoader(pack(x_train, y_train), batch_size=batch_size, shuffle=True)
    val = DataLoader(pack(x_val, y_val), batch_size=batch_size)
    return train, val


def train_epoch(model, loader, criterion, optimizer):
    model.train()
    total = 0.0
    for features, targets in loader:
        optimizer.zero_grad()
        loss = criterion(model(features), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(targets)
    return total / len(loader.dataset)


@torch.no_grad()
def validate(model, loader, criterion):
    model.eval()
    val_loss = val_r2 = 0.0
    for features, targets in loader:
        outputs = model(features)
        val_loss += criterion(outputs, targets).item() * len(targets)
        val_r2 += r2_score(targets.numpy(), outputs.numpy())
    return val_loss / len(loader.dataset), val_r2 / len(loader)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=5e-4)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    train_loader, val_loader = get_data(args.seed, args.batch_size)
    model = Regressor(10)
    criterion = nn.MSELoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    for epoch in range(1, args.epochs + 1):
        loss = train_epoch(model, train_loader, criterion, optimizer)
        if epoch % 8 == 0:
            val_loss, r2 = validate(model, val_loader, criterion)
            print(f"epoch {epoch:2d}  train mse {loss:.3f}  val mse {val_loss:.3f}  val R2 {r2:.3f}")


if __name__ == "__main__":
    main()
