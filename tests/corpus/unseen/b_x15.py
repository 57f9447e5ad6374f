# learning to rate films: user x item
import torch
from torch import nn

torch.manual_seed(12)
USERS, FILMS, K = 120, 80, 4
true_u, true_f = torch.randn(USERS, K), torch.randn(FILMS, K)
pairs = torch.cartesian_prod(torch.arange(USERS), torch.arange(FILMS))[torch.randperm(USERS * FILMS)]
stars = (true_u[pairs[:, 0]] * true_f[pairs[:, 1]]).sum(1) + 0.3 * torch.randn(len(pairs))
tr_p, tr_s, te_p, te_s = pairs[:7000], stars[:7000], pairs[7000:], stars[7000:]


class Factors(nn.Module):
    def __init__(self, k=6):
        super().__init__()
        self.u, self.f = nn.Embedding(USERS, k), nn.Embedding(FILMS, k)
        self.bu, self.bf = nn.Embedding(USERS, 1), nn.Embedding(FILMS, 1)
        nn.init.normal_(self.u.weight, std=0.3)
        nn.init.normal_(self.f.weight, std=0.3)

    def forward(self, p):
        a, b = p.unbind(1)
        return (self.u(a) * self.f(b)).sum(1) + self.bu(a).squeeze(1) + self.bf(b).squeeze(1)


mf = Factors()
updater = torch.optim.SGD(mf.parameters(), lr=40.0, momentum=0.9)
for sweep in range(4):
    for rows in torch.randperm(len(tr_p)).split(256):
        guess = mf(tr_p[rows])
        sq = (guess - tr_s[rows]).square().mean()
        updater.zero_grad()
        sq.backward()
        updater.step()
    with torch.no_grad():
        print(sweep, "train", sq.item(), "test", (mf(te_p) - te_s).square().mean().item(), "variance", te_s.var().item())
