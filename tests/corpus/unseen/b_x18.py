"""Sum of the tokens so far, predicted at each position (mod 4)."""
import torch
import torch.nn as nn

torch.manual_seed(17)


class CausalHead(nn.Module):
    def __init__(self, dim, n_max):
        super().__init__()
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_k = nn.Linear(dim, dim, bias=False)
        self.to_v = nn.Linear(dim, dim, bias=False)
        self.register_buffer("tri", torch.tril(torch.ones(n_max, n_max)))

    def forward(self, x):
        n = x.shape[1]
        affinity = self.to_q(x) @ self.to_k(x).mT * x.shape[-1] ** -0.5
        attn = torch.softmax(affinity, dim=-1) * self.tri[:n, :n]
        return attn @ self.to_v(x)


class Copier(nn.Module):
    def __init__(self, vocab=12, dim=48, n_max=20):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.where = nn.Embedding(n_max, dim)
        self.att1, self.att2 = CausalHead(dim, n_max), CausalHead(dim, n_max)
        self.ff = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 96), nn.ReLU(), nn.Linear(96, dim))
        self.final = nn.Linear(dim, vocab)

    def forward(self, seq):
        h = self.embed(seq) + self.where(torch.arange(seq.shape[1]))
        h = h + self.att1(h)
        h = h + self.att2(h)
        return self.final(h + self.ff(h))


def draw(n=32, length=20):
    """Each row repeats a random motif of 3-6 symbols."""
    out = torch.empty(n, length + 1, dtype=torch.long)
    for r in range(n):
        motif = torch.randint(0, 12, (int(torch.randint(3, 7, ())),))
        out[r] = motif.repeat(8)[: length + 1]
    return out[:, :-1], out[:, 1:]


net = Copier()
o = torch.optim.Adam(net.parameters(), lr=2e-3)
for t in range(300):
    src, tgt = draw()
    o.zero_grad()
    l = nn.functional.cross_entropy(net(src).transpose(1, 2), tgt)
    l.backward()
    o.step()
    if t % 60 == 0:
        print(t, l.item())
src, tgt = draw(200)
with torch.no_grad():
    right = (net(src).argmax(-1) == tgt).float().mean(0)
print("accuracy by position", [round(v, 2) for v in right.tolist()])
