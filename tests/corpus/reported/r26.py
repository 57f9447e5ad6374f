"""SRCNN-like super resolution of 8x8 digits from 4x4 thumbnails."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(28)
hr = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 16
lr_imgs = F.interpolate(F.avg_pool2d(hr, 2), size=8, mode="bilinear")
train, test = slice(0, 1400), slice(1400, 1797)


class SRCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 24, 5, padding=2)
        self.conv2 = nn.Conv2d(24, 16, 1)
        self.conv3 = nn.Conv2d(16, 1, 3, padding=1)
        self.drop = nn.Dropout2d(0.1)

    def forward(self, x):
        return self.conv3(self.drop(F.relu(self.conv2(F.relu(self.conv1(x))))))


def psnr(model):
    with torch.no_grad():
        mse = F.mse_loss(model(lr_imgs[test]), hr[test])
    return -10 * torch.log10(mse).item()


def main(learning_rate=1e-6, epochs=6, batch_size=56):
    model = SRCNN()
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=0.9)
    base = -10 * torch.log10(F.mse_loss(lr_imgs[test], hr[test])).item()
    print(f"bilinear PSNR {base:.2f}, untrained {psnr(model):.2f}")
    counter = 0
    model.train()
    for ep in range(epochs):
        for rows in torch.randperm(1400).split(batch_size):
            counter += 1
            out = model(lr_imgs[train][rows])
            loss = F.mse_loss(out, hr[train][rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"Epoch: [{ep + 1}], step: [{counter}], loss: [{loss.item():.8f}], test PSNR [{psnr(model):.2f}]")


main()
