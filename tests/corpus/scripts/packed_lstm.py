"""An LSTM over sequences of different length, packed, so that padding is never read."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

torch.manual_seed(9)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(20, 16, padding_idx=0)
        self.rnn = nn.LSTM(16, 32, batch_first=True)
        self.lin = nn.Linear(32, 2)

    def forward(self, x, n):
        packed = pack_padded_sequence(self.emb(x), n, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.rnn(packed)
        return self.lin(h[-1])


def draw(count):
    rows = [torch.randint(1, 20, (int(torch.randint(3, 15, (1,))),)) for _ in range(count)]
    answers = torch.tensor([int((r < 6).sum() * 3 > len(r)) for r in rows])
    return pad_sequence(rows, batch_first=True), torch.tensor([len(r) for r in rows]), answers


x, n, y = draw(512)
net = Counter()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(8):
    for part in torch.randperm(512).split(32):
        longest = int(n[part].max())
        cost = nn.functional.cross_entropy(net(x[part, :longest], n[part]), y[part])
        opt.zero_grad()
        cost.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
print(cost.item())
