"""Heatmap regression of court key points on small synthetic crops."""
import torch
from torch import nn

torch.manual_seed(16)
SIZE, K = 16, 3


def sample(n):
    pts = torch.randint(2, SIZE - 2, (n, K, 2))
    grid = torch.stack(torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij"), -1)
    d2 = ((grid[None, None] - pts[:, :, None, None]) ** 2).sum(-1)
    heat = torch.exp(-d2 / 3.0)
    shade = torch.tensor([1.0, 0.6, -0.8])[None, :, None, None]
    img = (shade * (d2 <= 1)).sum(1, keepdim=True) + 0.1 * torch.randn(n, 1, SIZE, SIZE)
    return img, heat, pts


net = nn.Sequential(
    nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(),
    nn.Conv2d(16, 16, 5, padding=2), nn.ReLU(),
    nn.Conv2d(16, K, 1))


def train(model, data, optimizer, criterion, epoch):
    model.train()
    losses = []
    img, heat, _ = data
    for rows in torch.randperm(len(img)).split(20):
        out = model(img[rows])
        loss = criterion(out, heat[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def val(model, data):
    model.eval()
    img, _, pts = data
    with torch.no_grad():
        flat = model(img).flatten(2).argmax(-1)
    found = torch.stack([flat // SIZE, flat % SIZE], -1)
    return ((found - pts).abs().amax(-1) <= 1).float().mean().item()


train_data, val_data = sample(400), sample(150)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3, betas=(0.9, 0.999))
criterion = nn.MSELoss()
for epoch in range(7):
    loss = train(net, train_data, optimizer, criterion, epoch)
    print(f"epoch {epoch} loss {loss:.5f} key points within 1 px {val(net, val_data):.3f}")
