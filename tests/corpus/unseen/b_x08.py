import torch
from torch import nn

# a GAN for a ring of four blobs
torch.manual_seed(2)
centres = torch.tensor([[1.5, 0.0], [-1.5, 0.0], [0.0, 1.5], [0.0, -1.5]])


def real(n):
    return centres[torch.randint(0, 4, (n,))] + 0.2 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
optG = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
optD = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

for step in range(700):
    fake = G(torch.randn(64, 4))
    optD.zero_grad()
    lossD = bce(D(real(64)), 0.9 * ones) + bce(D(fake.detach()), zeros)
    lossD.backward()
    optD.step()

    optG.zero_grad()
    lossG = bce(D(fake), ones)
    lossG.backward()
    optG.step()
    if step % 100 == 0:
        print(f"{step:4d}  D {lossD.item():.3f}  G {lossG.item():.3f}")

with torch.no_grad():
    pts = G(torch.randn(1000, 4))
    dist = torch.cdist(pts, centres).min(1)
    print("mean distance to the nearest blob", dist.values.mean().item(), "blobs", dist.indices.bincount(minlength=4).tolist())
