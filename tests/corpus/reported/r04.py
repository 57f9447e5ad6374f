"""Tiny GPT with tied embeddings that spells words backwards, cosine schedule with warm-up."""
import math
import random

import torch
import torch.nn.functional as F
from torch import nn

random.seed(63)
torch.manual_seed(63)
CHARS = "abcdefghijklmnop="
IDX = {c: i for i, c in enumerate(CHARS)}
WORD = 4
T, D, H = 2 * WORD, 48, 4


def line():
    word = "".join(random.choices(CHARS[:-1], k=WORD))
    return word + "=" + word[::-1]


def batch(n):
    ids = torch.tensor([[IDX[c] for c in line()] for _ in range(n)])
    return ids[:, :-1], ids[:, 1:]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.att = nn.MultiheadAttention(D, H, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x, mask):
        h = self.l1(x)
        x = x + self.att(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.l2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(len(CHARS), D), nn.Embedding(T, D)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.ln = nn.LayerNorm(D)
        self.head = nn.Linear(D, len(CHARS), bias=False)
        self.head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.2)
        self.register_buffer("mask", torch.triu(torch.ones(T, T, dtype=torch.bool), 1))

    def forward(self, ids):
        t = ids.shape[1]
        x = self.wte(ids) + self.wpe(torch.arange(t))
        for b in self.blocks:
            x = b(x, self.mask[:t, :t])
        return self.head(self.ln(x))


model = GPT()
opt = torch.optim.AdamW(model.parameters(), lr=5e-3, betas=(0.9, 0.95), weight_decay=0.01)
steps, warm = 150, 15
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: (s + 1) / warm if s < warm else 0.5 * (1 + math.cos(math.pi * (s - warm) / (steps - warm))))
for step in range(1, steps + 1):
    x, y = batch(32)
    loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 30 == 0:
        with torch.no_grad():
            x, y = batch(200)
            hit = (model(x)[:, WORD:].argmax(-1) == y[:, WORD:]).all(1).float().mean()
        print(f"step {step} loss {loss.item():.3f} words right {hit:.3f}")
