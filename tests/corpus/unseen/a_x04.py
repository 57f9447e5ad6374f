"""Find the discs in noisy pictures: a small U-Net, two losses backed up one after the other."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def pictures(n, size=24):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cx, cy, r = (torch.rand(n, 1, 1) * s + o for s, o in ((14, 5), (14, 5), (3, 2.5)))
    disc = ((xx - cx) ** 2 + (yy - cy) ** 2 < r**2).float()[:, None]
    return disc + 0.8 * torch.randn(n, 1, size, size), disc


def double(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(2, o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.mid = double(1, 8), double(8, 16), double(16, 16)
        self.u1, self.u2 = double(32, 8), double(16, 8)
        self.last = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        c = self.u1(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        d = self.u2(torch.cat([F.interpolate(c, scale_factor=2), a], 1))
        return self.last(d)


def dice(logits, m):
    p = logits.sigmoid()
    return 1 - (2 * (p * m).sum() + 1) / (p.sum() + m.sum() + 1)


torch.manual_seed(8)
unet = UNet()
opt = torch.optim.Adam(unet.parameters(), lr=5e-3)
for step in range(110):
    x, m = pictures(12)
    out = unet(x)
    opt.zero_grad()
    F.binary_cross_entropy_with_logits(out, m).backward(retain_graph=True)
    (0.5 * dice(out, m)).backward()
    opt.step()
    if step % 30 == 0:
        print(step, dice(out, m).item())
unet.eval()
with torch.no_grad():
    x, m = pictures(100)
    hit = unet(x) > 0
    print("iou", ((hit & m.bool()).sum() / (hit | m.bool()).sum()).item())
