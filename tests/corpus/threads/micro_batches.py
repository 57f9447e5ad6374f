"""Digits with a memory limit of eight pictures at a time; the optimizer sees sixty-four."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

SEED = 0
EPOCHS = 16
MICRO = 8
STEPS_PER_UPDATE = 8
PEAK_LR = 0.06


class Digits(Dataset):
    def __init__(self, images, labels, jitter):
        self.images, self.labels, self.jitter = images, labels, jitter

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        im = self.images[i]
        if self.jitter:
            im = np.roll(im, np.random.randint(-1, 2, 2), axis=(0, 1)) + np.random.normal(0, 0.1, im.shape)
        return torch.tensor(im, dtype=torch.float32).unsqueeze(0), int(self.labels[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.GroupNorm(4, 24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.GroupNorm(4, 48), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Linear(48 * 4, 10)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    good = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return good / len(loader.dataset)


def main():
    torch.manual_seed(SEED)
    np.random.seed(SEED)
    d = load_digits()
    order = np.random.permutation(len(d.target))
    images, labels = d.images[order] / 16.0, d.target[order]
    train_set = Digits(images[:1216], labels[:1216], jitter=True)
    train = DataLoader(train_set, batch_size=MICRO, shuffle=True, drop_last=True)
    test = DataLoader(Digits(images[1216:], labels[1216:], jitter=False), batch_size=200)
    model = Net()
    criterion = nn.CrossEntropyLoss(reduction="sum")
    opt = torch.optim.SGD(model.parameters(), lr=PEAK_LR, momentum=0.8)
    updates = EPOCHS * (len(train) // STEPS_PER_UPDATE)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=PEAK_LR, total_steps=updates + 1, pct_start=0.4,
                                                cycle_momentum=False)
    for epoch in range(1, EPOCHS + 1):
        model.train()
        seen, total = 0, 0.0
        for i, (x, y) in enumerate(train, 1):
            loss = criterion(model(x), y) / (MICRO * STEPS_PER_UPDATE)
            loss.backward()
            total += loss.item() * MICRO * STEPS_PER_UPDATE
            seen += len(y)
            if i % STEPS_PER_UPDATE == 0:
                opt.step()
                sched.step()
                opt.zero_grad()
        lr = sched.get_last_lr()[0]
        if epoch % 2 == 0:
            print(f"epoch {epoch:2d}  lr {lr:.4f}  loss {total / seen:.3f}  test acc {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
