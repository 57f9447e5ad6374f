"""Topic of each token in packed rows: several short documents share one row, attention stays inside a document."""
import argparse

import torch
from torch import nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=3)
parser.add_argument("--steps", type=int, default=500)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--heads", type=int, default=4)
parser.add_argument("--dim", type=int, default=48)
args = parser.parse_args()

torch.manual_seed(args.seed)
VOCAB, ROW, DOCS = 8, 30, 4


def make_rows(n):
    cuts = torch.rand(n, ROW - 1).argsort(1)[:, : DOCS - 1].sort(1).values + 1
    doc_id = (torch.arange(ROW)[None, :, None] >= cuts[:, None, :]).sum(-1)      # (n, ROW)
    topic = torch.randint(VOCAB, (n, DOCS)).gather(1, doc_id)
    keep = torch.rand(n, ROW) < 0.5
    tokens = torch.where(keep, topic, torch.randint(VOCAB, (n, ROW)))
    return tokens, doc_id, topic


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x, blocked):
        mask = blocked.repeat(self.heads, 1, 1)
        h = self.norm1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.ff(self.norm2(x))


class Tagger(nn.Module):
    def __init__(self, dim, heads, depth=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.out = nn.Linear(dim, VOCAB)

    def forward(self, tokens, doc_id):
        blocked = doc_id[:, :, None] != doc_id[:, None, :]
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, blocked)
        return self.out(x)


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    tokens, doc_id, topic = data
    hits = 0
    for i in range(0, len(tokens), args.batch):
        logits = model(tokens[i : i + args.batch], doc_id[i : i + args.batch])
        hits += (logits.argmax(-1) == topic[i : i + args.batch]).sum().item()
    model.train()
    return hits / topic.numel()


def main():
    train, test = make_rows(6000), make_rows(960)
    model = Tagger(args.dim, args.heads)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=args.steps)
    running = 0.0
    for step in range(1, args.steps + 1):
        idx = torch.randint(len(train[0]), (args.batch,))
        tokens, doc_id, topic = (t[idx] for t in train)
        loss = F.cross_entropy(model(tokens, doc_id).flatten(0, 1), topic.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        running += loss.item()
        if step % 100 == 0:
            print(f"step {step} loss {running / 100:.3f} test acc {evaluate(model, test):.3f}")
            running = 0.0


if __name__ == "__main__":
    main()
