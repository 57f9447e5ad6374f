"""Word-level language model over one long stream of text, cut into parallel columns."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, BRANCH = 50, 3


def make_stream(length, seed, rules):
    gen = torch.Generator().manual_seed(seed)
    words = [0, 1]
    choice = torch.multinomial(torch.tensor([0.75, 0.2, 0.05]), length, replacement=True, generator=gen).tolist()
    for c in choice:
        words.append(int(rules[words[-1], words[-2] % 4, c]))
    return torch.tensor(words)


def columns(stream, width):
    steps = len(stream) // width
    return stream[:steps * width].view(width, steps).t().contiguous()


class StreamModel(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.rnn = nn.LSTM(dim, dim)
        self.out = nn.Linear(dim, VOCAB, bias=False)
        self.out.weight = self.emb.weight
        nn.init.normal_(self.emb.weight, std=0.1)

    def forward(self, x, state):
        h, state = self.rnn(self.emb(x), state)
        return self.out(h), state


def chunks(data, bptt):
    for i in range(0, len(data) - 1, bptt):
        n = min(bptt, len(data) - 1 - i)
        yield data[i:i + n], data[i + 1:i + 1 + n]


@torch.no_grad()
def perplexity(model, data, bptt):
    model.eval()
    state, total, count = None, 0.0, 0
    for x, y in chunks(data, bptt):
        logits, state = model(x, state)
        total += F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
        count += y.numel()
    return math.exp(total / count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--bptt", type=int, default=12)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    rules = torch.randint(0, VOCAB, (VOCAB, 4, BRANCH), generator=torch.Generator().manual_seed(args.seed + 7))
    train = columns(make_stream(24000, args.seed, rules), 20)
    test = columns(make_stream(4000, args.seed + 1, rules), 10)
    model = StreamModel()
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(1, args.epochs + 1):
        model.train()
        state, total, seen = None, 0.0, 0
        for x, y in chunks(train, args.bptt):
            if state is not None:
                state = tuple(s.detach() for s in state)
            logits, state = model(x, state)
            loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()
            total += loss.item() * y.numel()
            seen += y.numel()
        print(f"epoch {epoch}  train perplexity {math.exp(total / seen):.2f}  test perplexity {perplexity(model, test, args.bptt):.2f}"
              f"  (uniform {VOCAB})")


if __name__ == "__main__":
    main()
