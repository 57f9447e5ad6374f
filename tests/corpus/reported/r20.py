"""CLIP-style training of paired views: two encoders, symmetric cross-entropy."""
import math

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(36)
LATENT, IMG, TXT = 12, 40, 24
to_img, to_txt = torch.randn(LATENT, IMG), torch.randn(LATENT, TXT)


def pairs(n):
    z = torch.randn(n, LATENT)
    return torch.tanh(z @ to_img / 3) + 0.2 * torch.randn(n, IMG), torch.tanh(z @ to_txt / 3) + 0.2 * torch.randn(n, TXT)


class Wrapper(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(IMG, 64), nn.GELU(), nn.Linear(64, dim))
        self.text = nn.Sequential(nn.Linear(TXT, 64), nn.GELU(), nn.Linear(64, dim))
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, image, text):
        i, t = F.normalize(self.image(image), dim=1), F.normalize(self.text(text), dim=1)
        return self.logit_scale.exp() * i @ t.t()

    def loss(self, logits):
        target = torch.arange(len(logits))
        return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2

    @torch.no_grad()
    def accuracy(self, image, text):
        logits = self(image, text)
        target = torch.arange(len(logits))
        acc_i = (torch.argmax(logits) == target).sum()
        acc_t = (torch.argmax(logits.t()) == target).sum()
        return ((acc_i + acc_t) / 2 / len(logits)).item()


model = Wrapper()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05)
val = pairs(128)
for step in range(1, 241):
    loss = model.loss(model(*pairs(64)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        model.logit_scale.clamp_(0, math.log(100))
    if step % 60 == 0:
        with torch.no_grad():
            val_loss = model.loss(model(*val)).item()
        print(f"step {step} loss {loss.item():.3f} val loss {val_loss:.3f} val acc {model.accuracy(*val):.3f}")
