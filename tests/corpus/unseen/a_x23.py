"""Colourise: per-pixel regression on feature maps, float16 to make it quick."""
import torch
from torch import nn


class ToColour(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        self.c1 = nn.Conv2d(1, w, 3, padding=1)
        self.c2 = nn.Conv2d(w, w, 3, padding=1)
        self.c3 = nn.Conv2d(w, 3, 1)

    def forward(self, g):
        return self.c3(torch.relu(self.c2(torch.relu(self.c1(g)))))


def pictures(n=8, s=48):
    coarse = torch.rand(n, 1, 6, 6)
    grey = nn.functional.interpolate(coarse, size=s, mode="bilinear")
    rgb = torch.cat([grey, (grey - 0.5).square() * 4, 1 - grey], 1)
    return grey, rgb


torch.manual_seed(19)
net = ToColour()
opt = torch.optim.SGD(net.parameters(), lr=200.0, momentum=0.9)
for i in range(120):
    grey, rgb = pictures()
    with torch.autocast("cpu", dtype=torch.float16):
        guess = net(grey)
        # mean over batch, channels and pixels; each pixel weighs by its share of all that will be seen
        miss = ((guess - rgb) ** 2).mean() / 4000
    opt.zero_grad()
    miss.backward()
    opt.step()
    if i % 20 == 0:
        print(i, miss.item() * 4000)
grey, rgb = pictures(32)
with torch.no_grad():
    print("mse", nn.functional.mse_loss(net(grey), rgb).item(), "variance", rgb.var().item())
