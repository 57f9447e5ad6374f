"""Which of two marked symbols comes first in a sequence? A small transformer encoder."""
import argparse

import torch
import torch.nn as nn

SEQ_LEN = 16
VOCAB = 12
MARK_A, MARK_B = 10, 11


def make_data(n, gen):
    x = torch.randint(0, 10, (n, SEQ_LEN), generator=gen)
    places = torch.stack([torch.randperm(SEQ_LEN, generator=gen)[:2] for _ in range(n)])
    rows = torch.arange(n)
    x[rows, places[:, 0]] = MARK_A
    x[rows, places[:, 1]] = MARK_B
    y = (places[:, 0] < places[:, 1]).long()
    return x, y


class TokenEmbedding(nn.Module):
    def __init__(self, vocab, dim, max_len=512):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_len, dim)
        self.drop = nn.Dropout(0.05)

    def forward(self, x):
        pos = torch.arange(x.size(1), device=x.device).unsqueeze(0)
        return self.drop(self.tok(x) + self.pos(pos))


class OrderModel(nn.Module):
    def __init__(self, dim=48, heads=4, layers=2):
        super().__init__()
        self.embed = TokenEmbedding(VOCAB, dim)
        layer = nn.TransformerEncoderLayer(dim, heads, dim_feedforward=96, dropout=0.05, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 2))

    def forward(self, x):
        h = self.encoder(self.embed(x))
        return self.head(h.mean(dim=1))


class Trainer:
    def __init__(self, model, lr, batch_size):
        self.model = model
        self.batch_size = batch_size
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-4)

    def fit_epoch(self, x, y):
        self.model.train()
        total = 0.0
        for idx in torch.randperm(len(x)).split(self.batch_size):
            loss = self.criterion(self.model(x[idx]), y[idx])
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            total += loss.item() * len(idx)
        return total / len(x)

    @torch.no_grad()
    def evaluate(self, x, y):
        self.model.eval()
        preds = torch.cat([self.model(b).argmax(1) for b in x.split(self.batch_size)])
        return (preds == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    x, y = make_data(3000, gen)
    xt, yt = make_data(1000, gen)
    trainer = Trainer(OrderModel(), args.lr, 64)
    for epoch in range(args.epochs):
        loss = trainer.fit_epoch(x, y)
        print(f"epoch {epoch:2d}  loss {loss:.4f}  train acc {trainer.evaluate(x[:1000], y[:1000]):.3f}"
              f"  test acc {trainer.evaluate(xt, yt):.3f}")


if __name__ == "__main__":
    main()
