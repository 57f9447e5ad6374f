"""GRU many-to-many tagging with ignore_index=-100 and zero padding, time-major, teacher labels from a rule."""

import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(2)
V, T, N = 30, 18, 512
lens = torch.randint(5, T + 1, (N,))
X = torch.randint(1, V, (N, T))
Y = torch.zeros_like(X)
Y[:, 1:] = (X[:, 1:] + X[:, :-1]) % 3
pad = torch.arange(T)[None] >= lens[:, None]
X[pad] = 0
Y[pad] = -100


class Tagger(nn.Module):
    def __init__(self, h=48):
        super().__init__()
        self.e = nn.Embedding(V, 24, padding_idx=0)
        self.gru = nn.GRU(24, h, num_layers=2, dropout=0.1)
        self.o = nn.Linear(h, 3)

    def forward(self, x):
        y, _ = self.gru(self.e(x.t()))
        return self.o(y)


t = Tagger()
op = optim.Adam(t.parameters(), lr=1e-2)
ce = nn.CrossEntropyLoss(ignore_index=-100)
for ep in range(6):
    for b in torch.randperm(N).split(64):
        out = t(X[b])
        j = ce(out.reshape(-1, 3), Y[b].t().reshape(-1))
        op.zero_grad()
        j.backward()
        nn.utils.clip_grad_value_(t.parameters(), 1.0)
        op.step()
    print(ep, j.item())
