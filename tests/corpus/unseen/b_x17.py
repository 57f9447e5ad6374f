"""Sentiment of made-up sentences with one attention layer; padding varies."""
import torch
from torch import nn

GOOD, BAD, PLAIN = range(1, 6), range(6, 11), range(11, 40)


def sentences(n, g):
    rows, ys = [], []
    for _ in range(n):
        k = int(torch.randint(3, 40, (1,), generator=g))
        y = int(torch.randint(0, 2, (1,), generator=g))
        words = torch.randint(11, 40, (k,), generator=g)
        m = 2 if k > 5 else 1
        at = torch.randperm(k, generator=g)[:m]
        words[at] = torch.randint(1, 6, (m,), generator=g) + (0 if y else 5)
        rows.append(words)
        ys.append(y)
    return rows, torch.tensor(ys)


def batches(rows, ys, size, shuffle=True):
    order = torch.randperm(len(rows)) if shuffle else torch.arange(len(rows))
    for part in order.split(size):
        yield nn.utils.rnn.pad_sequence([rows[i] for i in part], batch_first=True), ys[part]


class Attender(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(40, d)
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.cls = nn.Linear(d, 2)
        self.d = d

    def forward(self, t):
        real = t != 0
        e = self.emb(t)
        weights = (self.q(e) @ self.k(e).transpose(1, 2) / self.d ** 0.5).softmax(-1)
        weights = weights.masked_fill(~real[:, None, :], 0.0)
        mixed = weights @ self.v(e)
        pooled = (mixed * real[..., None]).sum(1) / real.sum(1, keepdim=True)
        return self.cls(pooled)


def main():
    torch.manual_seed(31)
    g = torch.Generator().manual_seed(31)
    train, test = sentences(1500, g), sentences(400, g)
    m = Attender()
    opt = torch.optim.Adam(m.parameters(), lr=2e-3)
    for e in range(5):
        for t, y in batches(*train, 32):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(m(t), y)
            loss.backward()
            opt.step()
        with torch.no_grad():
            ok = sum((m(t).argmax(1) == y).sum().item() for t, y in batches(*test, 32, shuffle=False))
        print(e, loss.item(), ok / 400)


main()
