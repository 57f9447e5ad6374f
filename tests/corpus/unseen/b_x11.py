import string
import this as zen  # noqa: F401  (a text that everybody has)
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    ctx: int = 24
    width: int = 48
    heads: int = 4
    depth: int = 2
    iters: int = 150
    lr: float = 5e-3


class LanguageModel(nn.Module):
    def __init__(self, vocab, cfg):
        super().__init__()
        self.cfg = cfg
        self.wte = nn.Embedding(vocab, cfg.width)
        self.wpe = nn.Embedding(cfg.ctx, cfg.width)
        block = nn.TransformerEncoderLayer(cfg.width, cfg.heads, 4 * cfg.width, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, cfg.depth, enable_nested_tensor=False)
        self.ln = nn.LayerNorm(cfg.width)
        self.lm_head = nn.Linear(cfg.width, vocab, bias=False)
        self.lm_head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.2)

    def forward(self, idx):
        T = idx.size(1)
        x = self.wte(idx) + self.wpe(torch.arange(T))
        m = nn.Transformer.generate_square_subsequent_mask(T)
        return self.lm_head(self.ln(self.blocks(x, mask=m, is_causal=True)))


def corpus():
    text = "".join(zen.d.get(c, c) for c in zen.s).lower() * 6
    alphabet = sorted(set(text))
    return torch.tensor([alphabet.index(c) for c in text]), alphabet


def main():
    torch.manual_seed(1337)
    cfg = Config()
    data, alphabet = corpus()
    split = int(0.9 * len(data))
    model = LanguageModel(len(alphabet), cfg)
    optim = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    warm = torch.optim.lr_scheduler.LambdaLR(optim, lambda k: min(1.0, (k + 1) / 20))
    for it in range(cfg.iters):
        at = torch.randint(0, split - cfg.ctx - 1, (16,))
        chunk = torch.stack([data[s:s + cfg.ctx + 1] for s in at])
        logits = model(chunk[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, len(alphabet)), chunk[:, 1:].reshape(-1))
        optim.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optim.step()
        warm.step()
        if it % 60 == 0 or it == cfg.iters - 1:
            print(it, round(loss.item(), 3), "lr", warm.get_last_lr()[0])


if __name__ == "__main__":
    main()
