"""Good or bad review? A bidirectional GRU over generated token sequences."""
import argparse

import torch
import torch.nn as nn

VOCAB, SEQ_LEN = 60, 20
GOOD, BAD = range(1, 9), range(9, 17)
NOT = 17


def make_reviews(n, gen):
    x = torch.randint(18, VOCAB, (n, SEQ_LEN), generator=gen)
    y = torch.randint(0, 2, (n,), generator=gen)
    for row in range(n):
        spots = torch.randperm(SEQ_LEN // 2, generator=gen)[:3] * 2
        for s in spots.tolist():
            negated = torch.rand(1, generator=gen).item() < 0.3
            pool = GOOD if (y[row].item() == 1) != negated else BAD
            x[row, s + 1] = pool[int(torch.randint(0, len(pool), (1,), generator=gen))]
            if negated:
                x[row, s] = NOT
    return x, y.float()


class ReviewModel(nn.Module):
    def __init__(self, emb_dim=24, hidden=24, layers=1, dropout=0.1):
        super().__init__()
        self.hidden = hidden
        self.embedding = nn.Embedding(VOCAB, emb_dim)
        self.rnn = nn.GRU(emb_dim, hidden, num_layers=layers, bidirectional=True, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Sequential(nn.Linear(2 * hidden, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, tokens):
        batch_size = tokens.size(0)
        embedded = self.dropout(self.embedding(tokens))
        _, hidden = self.rnn(embedded)
        hidden = hidden.view(batch_size, 2 * self.hidden)
        return self.classifier(self.dropout(hidden)).squeeze(1)


def run_epoch(model, optimizer, criterion, x, y, batch_size):
    model.train()
    total = correct = 0.0
    for idx in torch.randperm(len(x)).split(batch_size):
        logits = model(x[idx])
        loss = criterion(logits, y[idx])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(idx)
        correct += ((logits > 0) == y[idx].bool()).sum().item()
    return total / len(x), correct / len(x)


@torch.no_grad()
def evaluate(model, criterion, x, y, batch_size):
    model.eval()
    total = correct = 0.0
    for xb, yb in zip(x.split(batch_size), y.split(batch_size)):
        logits = model(xb)
        total += criterion(logits, yb).item() * len(xb)
        correct += ((logits > 0) == yb.bool()).sum().item()
    return total / len(x), correct / len(x)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--lr", type=float, default=4e-3)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    x, y = make_reviews(2000, gen)
    xt, yt = make_reviews(600, gen)
    model = ReviewModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.BCEWithLogitsLoss()
    for epoch in range(1, args.epochs + 1):
        loss, acc = run_epoch(model, optimizer, criterion, x, y, args.batch_size)
        test_loss, test_acc = evaluate(model, criterion, xt, yt, args.batch_size)
        print(f"epoch {epoch:2d}  loss {loss:.3f}  acc {acc:.3f}  test loss {test_loss:.3f}  test acc {test_acc:.3f}")


if __name__ == "__main__":
    main()
