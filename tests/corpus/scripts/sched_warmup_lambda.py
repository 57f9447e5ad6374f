"""Noam warm-up by LambdaLR, label smoothing, nn.Transformer encoder-decoder copying reversed sequences, kwargs masks."""

import torch
from torch import nn

torch.manual_seed(0)
V, T = 14, 8
BOS = 1


class Seq2Seq(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.src_emb, self.tgt_emb = nn.Embedding(V, d), nn.Embedding(V, d)
        self.pos = nn.Parameter(torch.randn(1, T + 1, d) * 0.02)
        self.core = nn.Transformer(d, 4, 1, 1, 64, dropout=0.0, batch_first=True)
        self.generator = nn.Linear(d, V)

    def forward(self, src, tgt):
        m = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        h = self.core(
            self.src_emb(src) + self.pos[:, : src.size(1)],
            self.tgt_emb(tgt) + self.pos[:, : tgt.size(1)],
            tgt_mask=m,
            tgt_is_causal=True,
        )
        return self.generator(h)


model = Seq2Seq()
crit = nn.CrossEntropyLoss(label_smoothing=0.1)
opt = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.98), eps=1e-9)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min((s + 1) / 30, (30 / (s + 1)) ** 0.5))
for step in range(120):
    src = torch.randint(2, V, (48, T))
    out = src.flip(1)
    tgt_in = torch.cat([torch.full((48, 1), BOS), out[:, :-1]], 1)
    logits = model(src, tgt_in)
    loss = crit(logits.permute(0, 2, 1), out)
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
print(loss.item())
