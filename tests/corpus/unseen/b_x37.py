"""Photographs of digits, blurred and rotated afresh at each visit."""
import numpy as np
import torch
from scipy import ndimage
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Photos(Dataset):
    def __init__(self, images, labels, train):
        self.images, self.labels, self.train = images, labels, train
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, k):
        img = self.images[k]
        if self.train:
            big = ndimage.zoom(img, 8, order=3)
            big = ndimage.rotate(big, self.rng.uniform(-12, 12), reshape=False, order=3)
            big = ndimage.gaussian_filter(big, 2.0)
            img = ndimage.zoom(big, 1 / 8, order=1)
        return torch.from_numpy(np.ascontiguousarray(img, dtype=np.float32))[None], int(self.labels[k])


def main():
    torch.manual_seed(3)
    raw = load_digits()
    images, labels = raw.images / 16, raw.target
    train = DataLoader(Photos(images[:480], labels[:480], True), batch_size=12, shuffle=True)
    test = DataLoader(Photos(images[1300:], labels[1300:], False), batch_size=128)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(2):
        net.train()
        for x, y in train:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = sum((net(x).argmax(1) == y).sum().item() for x, y in test) / len(test.dataset)
        print(epoch, loss.item(), acc)


if __name__ == "__main__":
    main()
