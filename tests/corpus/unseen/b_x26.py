"""One-dimensional GAN: imitate a gamma distribution."""
import torch
import torch.nn as nn

torch.manual_seed(40)
gamma = torch.distributions.Gamma(3.0, 1.0)
noise_dim = 5


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(noise_dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, z):
        return self.main(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Linear(1, 32), nn.LeakyReLU(0.1), nn.Linear(32, 32), nn.LeakyReLU(0.1), nn.Linear(32, 1))

    def forward(self, x):
        return self.main(x)


gen, dis = Generator(), Critic()
g_opt = torch.optim.SGD(gen.parameters(), lr=0.02)
d_opt = torch.optim.SGD(dis.parameters(), lr=0.02)
crit = nn.BCEWithLogitsLoss()

for i in range(400):
    genuine = gamma.sample((128, 1))
    forged = gen(torch.randn(128, noise_dim))
    d_loss = crit(dis(genuine), torch.ones(128, 1)) + crit(dis(forged.detach()), torch.zeros(128, 1))
    d_loss.backward()
    d_opt.step()

    g_opt.zero_grad()
    g_loss = crit(dis(gen(torch.randn(128, noise_dim))), torch.ones(128, 1))
    g_loss.backward()
    g_opt.step()
    if i % 50 == 0:
        print(i, d_loss.item(), g_loss.item())

with torch.no_grad():
    s = gen(torch.randn(2000, noise_dim))
print("mean", s.mean().item(), "want 3.0; std", s.std().item(), "want", 3.0 ** 0.5)
