"""Truncated BPTT: the hidden state is carried across batches and detached (repackage_hidden)."""

import inspect
import string as stringlib

import torch
from torch import nn

torch.manual_seed(0)
corpus = inspect.getsource(stringlib)[:12000]
alphabet = sorted(set(corpus))
enc = torch.tensor([alphabet.index(c) for c in corpus])
B, L = 12, 20
cols = enc[: len(enc) // B * B].view(B, -1)


class CharRNN(nn.Module):
    def __init__(self, n, h=64):
        super().__init__()
        self.emb = nn.Embedding(n, h)
        self.lstm = nn.LSTM(h, h, batch_first=True)
        self.dec = nn.Linear(h, n)

    def forward(self, x, hc):
        o, hc = self.lstm(self.emb(x), hc)
        return self.dec(o), hc


def repackage(h):
    return tuple(v.detach() for v in h)


rnn = CharRNN(len(alphabet))
opt = torch.optim.Adam(rnn.parameters(), lr=5e-3)
for epoch in range(3):
    state = (torch.zeros(1, B, 64), torch.zeros(1, B, 64))
    for i in range(0, cols.size(1) - L - 1, L):
        state = repackage(state)
        out, state = rnn(cols[:, i : i + L], state)
        loss = nn.functional.cross_entropy(out.transpose(1, 2), cols[:, i + 1 : i + L + 1])
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(rnn.parameters(), 1.0)
        opt.step()
    print(epoch, loss.item())
