"""UNet-like lane mask prediction on small synthetic roads."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(23)
S = 16


def roads(n):
    rows = torch.arange(S).float()
    x0, slope = torch.rand(n, 1) * 8 + 4, torch.randn(n, 1) * 0.25
    centre = x0 + slope * (rows - S / 2)
    cols = torch.arange(S).float()
    mask = ((cols[None, None] - centre[:, :, None]).abs() < 0.8).float()
    img = 0.8 * mask + 0.35 * torch.randn(n, S, S)
    return img.unsqueeze(1), mask.unsqueeze(1)


class MiniUNet(nn.Module):
    def __init__(self, w=10):
        super().__init__()
        self.e1 = nn.Conv2d(1, w, 3, padding=1)
        self.e2 = nn.Conv2d(w, 2 * w, 3, padding=1)
        self.d1 = nn.Conv2d(3 * w, w, 3, padding=1)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = F.relu(self.e1(x))
        b = F.relu(self.e2(F.max_pool2d(a, 2)))
        d1 = self.out(F.relu(self.d1(torch.cat([a, F.interpolate(b, scale_factor=2)], 1))))
        return torch.sigmoid(d1)


class SegLoss(nn.Module):
    def __init__(self, pos_weight):
        super().__init__()
        self.register_buffer("pos_weight", torch.tensor([pos_weight]))

    def forward(self, output, target):
        return F.binary_cross_entropy_with_logits(output, target, pos_weight=self.pos_weight)


def iou(pred, target):
    p = pred > 0.5
    t = target > 0.5
    return (p & t).sum().item() / max((p | t).sum().item(), 1)


net, criterion = MiniUNet(), SegLoss(2.0)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
val_x, val_y = roads(100)
for it in range(1, 181):
    x, y = roads(16)
    loss = criterion(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 45 == 0:
        with torch.no_grad():
            pred = net(val_x)
        print(f"iter {it} loss {loss.item():.4f} val loss {criterion(pred, val_y).item():.4f} val IoU {iou(pred, val_y):.3f}")
