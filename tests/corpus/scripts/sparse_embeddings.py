"""Skip-gram with negative sampling: sparse embeddings, SparseAdam, logsigmoid loss, no classifier at all."""

import collections
import inspect
import random
import re

import torch
import torch.nn.functional as F
from torch import nn

random.seed(0)
torch.manual_seed(0)
tokens = re.findall(r"[a-z]+", inspect.getsource(collections).lower())[:6000]
itos = [w for w, c in collections.Counter(tokens).most_common(300)]
ix = {w: i for i, w in enumerate(itos)}
ids = [ix[w] for w in tokens if w in ix]
pairs = [(ids[i], ids[i + o]) for i in range(2, len(ids) - 2) for o in (-2, -1, 1, 2)]
random.shuffle(pairs)


class SkipGram(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.inp = nn.Embedding(v, d, sparse=True)
        self.out = nn.Embedding(v, d, sparse=True)
        nn.init.uniform_(self.inp.weight, -0.5 / d, 0.5 / d)
        nn.init.zeros_(self.out.weight)

    def forward(self, c, pos, neg):
        e = self.inp(c)
        p = F.logsigmoid((e * self.out(pos)).sum(-1))
        n = F.logsigmoid(-(self.out(neg) @ e.unsqueeze(-1)).squeeze(-1)).sum(-1)
        return -(p + n).mean()


w2v = SkipGram(len(itos), 24)
opt = torch.optim.SparseAdam(list(w2v.parameters()), lr=0.01)
P = torch.tensor(pairs)
for start in range(0, 12800, 128):
    c, pos = P[start : start + 128].unbind(1)
    neg = torch.randint(len(itos), (len(c), 5))
    J = w2v(c, pos, neg)
    opt.zero_grad()
    J.backward()
    opt.step()
print(J.item())
