"""Autoencoder on digits; report the reconstruction error."""
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader


def main():
    data = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    train, test = train_test_split(data, test_size=0.2)
    ae = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8), nn.ReLU(), nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 64))
    optimizer = torch.optim.Adam(ae.parameters(), lr=3e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(8):
        for x in DataLoader(train, batch_size=64, shuffle=True):
            loss = loss_fn(ae(x), x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            print(f"epoch {epoch + 1} train {loss.item():.4f} test {loss_fn(ae(test), test).item():.4f}")


if __name__ == "__main__":
    main()
