"""Denoises one picture with an untrained conv net: the input code is fixed and the noisy picture is the only target."""
import argparse
import copy

import torch
from sklearn.datasets import load_sample_image
from torch import nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=10)
parser.add_argument("--steps", type=int, default=180)
parser.add_argument("--sigma", type=float, default=0.15)
parser.add_argument("--lr", type=float, default=5e-3)
args = parser.parse_args()
torch.manual_seed(args.seed)


def picture():
    img = torch.tensor(load_sample_image("china.jpg"), dtype=torch.float32).permute(2, 0, 1)[None] / 255
    return F.interpolate(img[:, :, 60:380, 120:440], size=(64, 64), mode="area")


class Decoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.low = nn.Sequential(
            nn.Conv2d(16, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.1),
            nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.1),
        )
        self.mid = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.1))
        self.high = nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.1))
        self.rgb = nn.Conv2d(width, 3, 1)

    def forward(self, code):
        h = self.low(code)
        h = self.mid(F.interpolate(h, scale_factor=2, mode="bilinear", align_corners=False))
        h = self.high(F.interpolate(h, scale_factor=2, mode="bilinear", align_corners=False))
        return torch.sigmoid(self.rgb(h))


def psnr(a, b):
    return -10 * F.mse_loss(a.clamp(0, 1), b).log10().item()


def main():
    clean = picture()
    noisy = clean + args.sigma * torch.randn_like(clean)
    code = 0.1 * torch.randn(1, 16, 16, 16)
    model = Decoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    smooth = None
    print(f"noisy picture: {psnr(noisy, clean):.2f} dB")
    for step in range(1, args.steps + 1):
        out = model(code + 0.01 * torch.randn_like(code))
        loss = F.mse_loss(out, noisy)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smooth = out.detach() if smooth is None else 0.98 * smooth + 0.02 * out.detach()
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.5f} output {psnr(out.detach(), clean):.2f} dB "
                  f"averaged {psnr(smooth, clean):.2f} dB")
    return copy.deepcopy(model.state_dict()), smooth


if __name__ == "__main__":
    main()
