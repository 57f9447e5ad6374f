"""Digits from a noisy camera: sensor noise is added to the training images, the test images are taken as they are."""
import argparse

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=21)
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--batch_size", type=int, default=32)
parser.add_argument("--sigma", type=float, default=20.0)
args = parser.parse_args()
np.random.seed(args.seed)
torch.manual_seed(args.seed)

to_input = transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.5], [0.5])])


class SensorNoise:
    def __init__(self, sigma):
        self.sigma = sigma

    def __call__(self, img):
        gain = np.random.uniform(0.8, 1.2)
        noise = np.random.normal(0, self.sigma, img.shape).astype(np.float32)
        return np.clip(img * gain + noise, 0, 255).astype(np.uint8)


class CameraDigits(Dataset):
    def __init__(self, images, labels, augment=None):
        self.images = images
        self.labels = labels
        self.augment = augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = self.images[i]
        if self.augment is not None:
            img = self.augment(img)
        return to_input(img), int(self.labels[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))

    def forward(self, x):
        return self.fc(self.conv(x))


def load():
    digits = load_digits()
    images = (digits.images * 15).astype(np.uint8)[..., None]          # (N, 8, 8, 1), 0..240
    return train_test_split(images, digits.target, test_size=0.25, stratify=digits.target, random_state=args.seed)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    loss, hits = 0.0, 0
    for x, y in loader:
        logits = model(x)
        loss += nn.functional.cross_entropy(logits, y, reduction="sum").item()
        hits += (logits.argmax(1) == y).sum().item()
    return loss / len(loader.dataset), hits / len(loader.dataset)


def main():
    x_tr, x_te, y_tr, y_te = load()
    train_loader = DataLoader(CameraDigits(x_tr, y_tr, SensorNoise(args.sigma)), args.batch_size, shuffle=True)
    test_loader = DataLoader(CameraDigits(x_te, y_te), batch_size=200)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total, hits = 0.0, 0
        for x, y in train_loader:
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
            hits += (logits.argmax(1) == y).sum().item()
        n = len(train_loader.dataset)
        test_loss, test_acc = evaluate(model, test_loader)
        print(f"epoch {epoch} train loss {total / n:.3f} acc {hits / n:.3f} test loss {test_loss:.3f} acc {test_acc:.3f}")


if __name__ == "__main__":
    main()
