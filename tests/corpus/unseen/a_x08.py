"""CNN, float16 autocast, scaler, four micro-batches a step."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACC = 4


def build():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        nn.Dropout(0.2), nn.Linear(128, 10),
    )


def main():
    torch.manual_seed(9)
    d = load_digits()
    x, y = torch.tensor(d.images).float()[:, None] / 16, torch.tensor(d.target)
    p = torch.randperm(len(x))
    x, y = x[p], y[p]
    dl = DataLoader(TensorDataset(x[:1280], y[:1280]), batch_size=16, shuffle=True)
    net = build()
    sgd = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    scaler = torch.amp.GradScaler("cpu")
    for epoch in range(4):
        net.train()
        for k, (a, b) in enumerate(dl, 1):
            with torch.autocast("cpu", torch.float16):
                ce = nn.functional.cross_entropy(net(a), b)
            scaler.scale(ce / ACC).backward()
            if k % ACC == 0:
                scaler.step(sgd)
                scaler.update()
                sgd.zero_grad()
        net.eval()
        with torch.no_grad():
            print(epoch, ce.item(), (net(x[1280:]).argmax(1) == y[1280:]).float().mean().item(), scaler.get_scale())


if __name__ == "__main__":
    main()
