"""nn.Transformer learns to reverse digits: source and target, teacher forcing, time first."""

import torch
from torch import nn

torch.manual_seed(2)
VOCAB, DIM, LENGTH, BOS = 12, 32, 6, 11


class Reverser(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, DIM)
        self.places = nn.Parameter(torch.randn(LENGTH + 1, 1, DIM) * 0.1)
        self.core = nn.Transformer(DIM, 4, 1, 1, 64, dropout=0.0)
        self.out = nn.Linear(DIM, VOCAB)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(len(tgt))
        a = self.tokens(src) + self.places[: len(src)]
        b = self.tokens(tgt) + self.places[: len(tgt)]
        return self.out(self.core(a, b, tgt_mask=mask))


net = Reverser()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(120):
    src = torch.randint(0, 10, (LENGTH, 32))  # time first
    goal = src.flip(0)
    tgt_in = torch.cat([torch.full((1, 32), BOS), goal[:-1]])
    logits = net(src, tgt_in)
    nll = nn.functional.cross_entropy(logits.reshape(-1, VOCAB), goal.reshape(-1))
    opt.zero_grad()
    nll.backward()
    opt.step()
print(nll.item())
