"""Unsupervised registration of 2-D slices: a conv net predicts a displacement field, loss = similarity + smoothness."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=32)
parser.add_argument("--steps", type=int, default=250)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--smooth", type=float, default=0.02)
parser.add_argument("--seed", type=int, default=4)
args = parser.parse_args()


def blobs(centers, widths, size):
    yy = torch.arange(size).float().view(1, 1, size, 1)
    xx = torch.arange(size).float().view(1, 1, 1, size)
    cy, cx = centers[..., 0, None, None], centers[..., 1, None, None]
    img = torch.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * widths[..., None, None] ** 2))
    return img.sum(1, keepdim=True).clamp(max=1.5)


def pairs(n, size):
    """Two slices of the same anatomy: blobs, moved a little between the two."""
    centers = 6 + torch.rand(n, 5, 2) * (size - 12)
    widths = 1.8 + torch.rand(n, 5)
    move = torch.randn(n, 1, 2) * 1.5 + torch.randn(n, 5, 2) * 0.5
    return blobs(centers, widths, size), blobs(centers + move, widths, size)


class SpatialTransformer(nn.Module):
    """Warps an image with a displacement field given in pixels."""

    def __init__(self, size):
        super().__init__()
        axis = torch.arange(size).float()
        grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"), dim=0)
        self.register_buffer("grid", grid.unsqueeze(0))
        self.size = size

    def forward(self, img, flow):
        where = 2 * (self.grid + flow) / (self.size - 1) - 1
        where = where.permute(0, 2, 3, 1)
        return F.grid_sample(img, where, mode="bilinear", padding_mode="border", align_corners=True)


class RegNet(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(2, ch, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch, ch, 3, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch, ch, 3, padding=1), nn.LeakyReLU(0.2),
        )
        self.up = nn.Sequential(nn.Conv2d(ch + 2, ch, 3, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(ch, 2, 3, padding=1))
        nn.init.normal_(self.up[-1].weight, std=1e-3)
        nn.init.zeros_(self.up[-1].bias)

    def forward(self, moving, fixed):
        both = torch.cat([moving, fixed], 1)
        coarse = F.interpolate(self.down(both), scale_factor=4, mode="bilinear", align_corners=False)
        return self.up(torch.cat([coarse, both], 1))


def smoothness(flow):
    return (flow[:, :, 1:] - flow[:, :, :-1]).pow(2).mean() + (flow[..., 1:] - flow[..., :-1]).pow(2).mean()


torch.manual_seed(args.seed)
net, warp = RegNet(), SpatialTransformer(args.size)
optimizer = torch.optim.Adam(net.parameters(), lr=args.lr)
test_moving, test_fixed = pairs(200, args.size)
before = F.mse_loss(test_moving, test_fixed).item()
for step in range(1, args.steps + 1):
    moving, fixed = pairs(args.batch, args.size)
    flow = net(moving, fixed)
    similarity = F.mse_loss(warp(moving, flow), fixed)
    loss = similarity + args.smooth * smoothness(flow)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        with torch.no_grad():
            flow = net(test_moving, test_fixed)
            after = F.mse_loss(warp(test_moving, flow), test_fixed).item()
        print(f"step {step:4d} loss {loss.item():.4f}  test mse {after:.4f} (unregistered {before:.4f})  "
              f"mean |flow| {flow.abs().mean().item():.2f} px")
