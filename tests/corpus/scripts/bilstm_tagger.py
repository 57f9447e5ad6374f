"""A tagger that reads both ways: an output for each position, and looking ahead is right; padding is ignored in the loss."""

import torch
from torch import nn

torch.manual_seed(6)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(30, 16, padding_idx=0)
        self.r = nn.LSTM(16, 24, bidirectional=True, batch_first=True)
        self.o = nn.Linear(48, 4)

    def forward(self, tokens, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.e(tokens), lengths, batch_first=True, enforce_sorted=False)
        states, _ = nn.utils.rnn.pad_packed_sequence(self.r(packed)[0], batch_first=True, total_length=tokens.shape[1])
        return self.o(states)


def sample(n):
    lengths = torch.randint(4, 13, (n,))
    tokens = torch.randint(1, 30, (n, 12))
    tags = (tokens + tokens.roll(-1, 1)) % 4  # depends on the word that follows
    pad = torch.arange(12)[None] >= lengths[:, None]
    return tokens.masked_fill(pad, 0), lengths, tags.masked_fill(pad, -100)


tagger = Tagger()
opt = torch.optim.Adam(tagger.parameters(), lr=5e-3)
for step in range(150):
    tokens, lengths, tags = sample(32)
    opt.zero_grad()
    err = nn.functional.cross_entropy(tagger(tokens, lengths).transpose(1, 2), tags, ignore_index=-100)
    err.backward()
    opt.step()
print(err.item())
