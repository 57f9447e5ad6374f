"""Decoder-only transformer on copy-and-increment sequences."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)
VOCAB, T, D, H = 24, 16, 48, 4


def sequences(n):
    """Second half repeats the first half, shifted by one symbol; first half is random."""
    a = torch.randint(1, VOCAB, (n, T // 2))
    b = (a % (VOCAB - 1)) + 1
    return torch.cat([a, b], 1)


class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (z.view(b, t, H, D // H).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).reshape(b, t, D))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.att = nn.LayerNorm(D), nn.LayerNorm(D), SelfAttention()
        self.ff = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x):
        x = x + self.att(self.n1(x))
        return x + self.ff(self.n2(x))


class DecoderLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(VOCAB, D), nn.Embedding(T, D)
        self.layers = nn.Sequential(Layer(), Layer())
        self.head = nn.Linear(D, VOCAB)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.shape[1]]
        return self.head(self.layers(x))


@torch.no_grad()
def generate(model, prompt, n):
    for _ in range(n):
        prompt = torch.cat([prompt, model(prompt)[:, -1].argmax(-1, keepdim=True)], 1)
    return prompt


model = DecoderLM()
opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
for step in range(1, 121):
    seq = sequences(32)
    logits = model(seq[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, VOCAB), seq[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        test = sequences(50)
        out = generate(model, test[:, : T // 2], T // 2)
        print(f"step {step} loss {loss.item():.3f} generated correctly {(out == test)[:, T // 2:].float().mean():.3f}")
