"""Denoising diffusion on the two-moons distribution."""
import torch
from sklearn.datasets import make_moons
from torch import nn

torch.manual_seed(69)
points = torch.tensor(make_moons(2000, noise=0.05, random_state=0)[0], dtype=torch.float32)
held_out, points = points[:500], points[500:]
mean, std = points.mean(0), points.std(0)
points, held_out = (points - mean) / std, (held_out - mean) / std
STEPS = 50
betas = torch.linspace(1e-3, 0.16, STEPS)
alphas = 1 - betas
abar = alphas.cumprod(0)


class Denoiser(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.time = nn.Embedding(STEPS, 16)
        self.net = nn.Sequential(nn.Linear(18, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], 1))


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 2)
    for t in reversed(range(STEPS)):
        eps = model(x, torch.full((n,), t))
        x = (x - betas[t] / (1 - abar[t]).sqrt() * eps) / alphas[t].sqrt()
        if t > 0:
            x = x + betas[t].sqrt() * torch.randn_like(x)
    return x


def energy_distance(a, b):
    return (2 * torch.cdist(a, b).mean() - torch.cdist(a, a).mean() - torch.cdist(b, b).mean()).item()


model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, total_iters=700)
print(f"noise itself: energy distance {energy_distance(torch.randn(500, 2), held_out):.4f}")
running = None
for it in range(1, 701):
    x0 = points[torch.randint(0, len(points), (256,))]
    t = torch.randint(0, STEPS, (256,))
    noise = torch.randn_like(x0)
    xt = abar[t].sqrt()[:, None] * x0 + (1 - abar[t]).sqrt()[:, None] * noise
    loss = ((model(xt, t) - noise) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    running = loss.item() if running is None else 0.98 * running + 0.02 * loss.item()
    if it % 350 == 0:
        print(f"it {it} loss {running:.3f} energy distance {energy_distance(sample(model, 500), held_out):.4f}")
