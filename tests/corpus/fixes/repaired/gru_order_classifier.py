import math
import os

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR

SEED = int(os.environ.get("SEED", 0))
torch.manual_seed(SEED)

cfg = dict(vocab=12, length=16, hidden=48, batch=64, epochs=8, lr=4e-3, warmup=40)


def sample_sequences(n, gen):
    tokens = torch.randint(2, cfg["vocab"], (n, cfg["length"]), generator=gen)
    pos = torch.stack([torch.randperm(cfg["length"], generator=gen)[:2] for _ in range(n)])
    rows = torch.arange(n)
    tokens[rows, pos[:, 0]] = 0
    tokens[rows, pos[:, 1]] = 1
    return tokens, (pos[:, 0] < pos[:, 1]).long()


class OrderNet(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab, 24)
        self.gru = nn.GRU(24, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 2)

    def forward(self, tokens):
        _, h = self.gru(self.emb(tokens))
        return self.head(h[-1])


def build_schedule(base_lr, warmup, total):
    def value(step):
        if step < warmup:
            return (step + 1) / warmup
        progress = (step - warmup) / max(1, total - warmup)
        return 0.5 * (1.0 + math.cos(math.pi * progress))
    return value


gen = torch.Generator().manual_seed(1000 + SEED)
x_train, y_train = sample_sequences(3000, gen)
x_val, y_val = sample_sequences(800, gen)

model = OrderNet(cfg["vocab"], cfg["hidden"])
optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=0.01)
steps_per_epoch = math.ceil(len(x_train) / cfg["batch"])
total_steps = steps_per_epoch * cfg["epochs"]
scheduler = LambdaLR(optimizer, build_schedule(cfg["lr"], cfg["warmup"], total_steps))
criterion = nn.CrossEntropyLoss()

for epoch in range(1, cfg["epochs"] + 1):
    model.train()
    perm = torch.randperm(len(x_train))
    total = 0.0
    for start in range(0, len(perm), cfg["batch"]):
        idx = perm[start:start + cfg["batch"]]
        loss = criterion(model(x_train[idx]), y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(idx)

    model.eval()
    with torch.no_grad():
        logits = model(x_val)
        val_loss = criterion(logits, y_val).item()
        val_acc = (logits.argmax(-1) == y_val).float().mean().item()
    print(f"epoch {epoch}: train_loss={total / len(perm):.4f} "
          f"val_loss={val_loss:.4f} val_acc={val_acc:.4f}")

print(f"done. val_loss={val_loss:.4f} val_acc={val_acc:.4f}")
