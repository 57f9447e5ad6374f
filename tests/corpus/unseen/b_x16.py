"""Character model of Python keywords and help texts with a hand-made GPT."""
import keyword
import math
import pydoc_data.topics as topics

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(42)
text = "".join(topics.topics[k] for k in sorted(topics.topics)[:8])[:60000]
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = torch.tensor([stoi[c] for c in text])
BLOCK, BATCH, D, H = 16, 16, 48, 4


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (t.view(B, T, H, D // H).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).reshape(B, T, D))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.attn = SelfAttention()
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(len(chars), D)
        self.pos = nn.Parameter(torch.randn(BLOCK, D))
        self.body = nn.Sequential(Block(), Block())
        self.norm = nn.LayerNorm(D)
        self.head = nn.Linear(D, len(chars))

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos[: idx.shape[1]]
        logits = self.head(self.norm(self.body(x)))
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


def get_batch():
    ix = torch.randint(len(ids) - BLOCK - 1, (BATCH,))
    return torch.stack([ids[i:i + BLOCK] for i in ix]), torch.stack([ids[i + 1:i + BLOCK + 1] for i in ix])


gpt = TinyGPT()
optimizer = torch.optim.AdamW(gpt.parameters(), lr=4e-3)
for step in range(700):
    xb, yb = get_batch()
    _, loss = gpt(xb, yb)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(step, round(loss.item(), 3), "guessing", round(math.log(len(chars)), 3))
print("final", loss.item(), len(keyword.kwlist))
