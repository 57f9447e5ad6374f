import os
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import tv_tensors
from torchvision.transforms import v2

SEED = int(os.environ.get("SEED", "0"))
SIZE = 48
EPOCHS = 7

random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


def draw_scene(rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    image = rng.normal(0.3, 0.08, size=(3, SIZE, SIZE))
    mask = np.zeros((SIZE, SIZE), dtype=np.int64)
    for label in (1, 2):
        cy, cx = rng.uniform(8, SIZE - 8, size=2)
        r = rng.uniform(5, 9)
        if label == 1:
            inside = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
            colour = np.array([0.8, 0.3, 0.3])
        else:
            inside = (np.abs(yy - cy) < r * 0.8) & (np.abs(xx - cx) < r * 0.8)
            colour = np.array([0.3, 0.4, 0.8])
        image[:, inside] = colour[:, None] + rng.normal(0, 0.08, (3, inside.sum()))
        mask[inside] = label
    return image.astype(np.float32).clip(0, 1), mask


class Scenes(Dataset):
    def __init__(self, n, seed, transform=None):
        rng = np.random.default_rng(seed)
        self.items = [draw_scene(rng) for _ in range(n)]
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        image, mask = self.items[i]
        image = tv_tensors.Image(torch.from_numpy(image))
        mask = tv_tensors.Mask(torch.from_numpy(mask))
        if self.transform is not None:
            image, mask = self.transform(image, mask)
        return image, mask


def block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
    )


class SmallUNet(nn.Module):
    def __init__(self, classes=3, width=12):
        super().__init__()
        self.enc1 = block(3, width)
        self.enc2 = block(width, width * 2)
        self.mid = block(width * 2, width * 2)
        self.dec = block(width * 3, width)
        self.out = nn.Conv2d(width, classes, 1)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)

    def forward(self, x):
        a = self.enc1(x)
        b = self.mid(self.enc2(self.pool(a)))
        return self.out(self.dec(torch.cat([a, self.up(b)], dim=1)))


def miou(model, loader, classes=3):
    model.eval()
    inter, union = torch.zeros(classes), torch.zeros(classes)
    with torch.no_grad():
        for image, mask in loader:
            pred = model(image).argmax(1)
            for c in range(classes):
                p, t = pred == c, mask == c
                inter[c] += (p & t).sum()
                union[c] += (p | t).sum()
    return inter / union.clamp(min=1)


augment = v2.Compose([
    v2.RandomHorizontalFlip(0.5),
    v2.RandomVerticalFlip(0.5),
    v2.RandomAffine(degrees=0, translate=(0.1, 0.1)),
])
train_loader = DataLoader(Scenes(320, SEED + 1, augment), batch_size=16, shuffle=True)
val_loader = DataLoader(Scenes(80, SEED + 2), batch_size=40)

net = SmallUNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(EPOCHS):
    net.train()
    running = 0.0
    for image, mask in train_loader:
        loss = loss_fn(net(image), mask)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    iou = miou(net, val_loader)
    print(f"[{epoch + 1}/{EPOCHS}] loss {running / len(train_loader):.4f} "
          f"mIoU {iou.mean():.4f} per class {[round(v, 3) for v in iou.tolist()]}")

print("final mIoU %.4f" % miou(net, val_loader).mean().item())
