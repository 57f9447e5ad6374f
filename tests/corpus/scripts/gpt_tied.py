"""A causal language model with tied embeddings, fused attention, warm-up and clipping that bites rarely."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1337)
text = "the cat sat on the mat. the dog ate the cat's hat. a rat sat on that mat and the dog ran. " * 60
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])
block, width = 24, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(B, T, 3, 4, C // 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(len(chars), width), nn.Embedding(block, width)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, len(chars), bias=False)
        self.lm_head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.02)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))
        for b in self.blocks:
            x = b(x)
        logits = self.lm_head(self.ln_f(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


gpt = GPT()
optimizer = torch.optim.AdamW(gpt.parameters(), lr=3e-3, betas=(0.9, 0.95))
warm = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda s: min(1, (s + 1) / 20) * 0.5 * (1 + math.cos(s * math.pi / 200))
)
for it in range(150):
    at = torch.randint(len(data) - block - 1, (16,))
    xb = torch.stack([data[i : i + block] for i in at])
    yb = torch.stack([data[i + 1 : i + 1 + block] for i in at])
    _, nll = gpt(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    nll.backward()
    nn.utils.clip_grad_norm_(gpt.parameters(), 1.0)
    optimizer.step()
    warm.step()
print(nll.item())
