"""Dataset class, DataLoader with 2 workers and persistent_workers, tqdm-less progress, SummaryWriter-like dict log."""

import os
import random

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


def seed_everything(seed: int = 0):
    random.seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class DigitDataset(Dataset):
    def __init__(self, train=True):
        b = load_digits()
        sl = slice(0, 1400) if train else slice(1400, None)
        self.x, self.y, self.train = b.images[sl].astype(np.float32), b.target[sl], train

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        img = self.x[index] / 16.0
        if self.train and random.random() < 0.5:
            img = np.roll(img, random.choice([-1, 1]), axis=1)
        return {"image": torch.from_numpy(img.copy()).unsqueeze(0), "label": int(self.y[index])}


def worker_init(wid):
    s = torch.initial_seed() % 2**32
    np.random.seed(s)
    random.seed(s)


if __name__ == "__main__":
    seed_everything(11)
    gen = torch.Generator()
    gen.manual_seed(11)
    dl = DataLoader(
        DigitDataset(),
        batch_size=64,
        shuffle=True,
        num_workers=2,
        worker_init_fn=worker_init,
        generator=gen,
        persistent_workers=True,
        drop_last=True,
    )
    vl = DataLoader(DigitDataset(False), batch_size=200)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.3),
        nn.Linear(144, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    lr_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    log = {}
    for epoch in range(4):
        model.train()
        running_loss = 0.0
        for step, sample in enumerate(dl):
            optimizer.zero_grad()
            outputs = model(sample["image"])
            loss = nn.functional.cross_entropy(outputs, sample["label"])
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        lr_scheduler.step()
        model.eval()
        correct = 0
        with torch.no_grad():
            for sample in vl:
                correct += (model(sample["image"]).argmax(1) == sample["label"]).sum().item()
        log[epoch] = (running_loss / len(dl), correct / len(vl.dataset))
    print(log)
