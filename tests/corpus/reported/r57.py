"""SimCLR on digits, followed by a linear probe on the frozen representation."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(62)
imgs, labels = load_digits(return_X_y=True)
imgs = torch.tensor(imgs, dtype=torch.float32).view(-1, 1, 8, 8) / 16
labels = torch.tensor(labels)
perm = torch.randperm(len(imgs))
tr, te = perm[:1300], perm[1300:]


def augment(x):
    dy, dx = (int(v) for v in torch.randint(-1, 2, (2,)))
    x = torch.roll(x, (dy, dx), (2, 3))
    x = x * (0.7 + 0.6 * torch.rand(len(x), 1, 1, 1))
    return x + 0.15 * torch.randn_like(x)


encoder = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 48), nn.ReLU())
projector = nn.Sequential(nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 24))


def nt_xent(a, b, tau=0.3):
    z = F.normalize(torch.cat([a, b]), dim=1)
    n = len(a)
    sim = z @ z.t() / tau
    sim.fill_diagonal_(float("-inf"))
    partner = torch.arange(2 * n).roll(n)
    return F.cross_entropy(sim, partner)


opt = torch.optim.Adam([*encoder.parameters(), *projector.parameters()], lr=3e-3)
for epoch in range(8):
    for rows in tr[torch.randperm(len(tr))].split(100):
        x = imgs[rows]
        loss = nt_xent(projector(encoder(augment(x))), projector(encoder(augment(x))))
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 1:
        print(f"epoch {epoch} contrastive loss {loss.item():.3f}")

with torch.no_grad():
    feats = encoder(imgs)
feats = (feats - feats[tr].mean(0)) / (feats[tr].std(0) + 1e-6)
probe = nn.Linear(48, 10)
opt = torch.optim.Adam(probe.parameters(), lr=0.02)
for _ in range(120):
    loss = F.cross_entropy(probe(feats[tr]), labels[tr])
    opt.zero_grad()
    loss.backward()
    opt.step()
acc = (probe(feats[te]).argmax(1) == labels[te]).float().mean().item()
print(f"linear probe loss {loss.item():.3f} test acc {acc:.3f}")
