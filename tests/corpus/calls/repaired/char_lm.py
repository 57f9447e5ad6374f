"""Character model over a made-up language; the character vectors come from a lexicon and stay fixed."""
import argparse
import math

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=4)
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--lr", type=float, default=15.0)
parser.add_argument("--clip", type=float, default=0.25)
parser.add_argument("--bptt", type=int, default=30)
parser.add_argument("--batch_size", type=int, default=20)
args = parser.parse_args()
torch.manual_seed(args.seed)

CHARS = 20


def write_text(n_words):
    lexicon = [torch.randint(1, CHARS, (int(k),)) for k in torch.randint(3, 8, (40,))]
    picks = torch.multinomial(1.0 / torch.arange(1, 41).float(), n_words, replacement=True)
    space = torch.zeros(1, dtype=torch.long)
    return torch.cat([part for p in picks for part in (lexicon[p], space)])


def batchify(text, bsz):
    n = len(text) // bsz
    return text[: n * bsz].view(bsz, n).t().contiguous()


class CharLM(nn.Module):
    def __init__(self, table, hidden=96):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(table, freeze=True)
        self.rnn = nn.LSTM(table.size(1), hidden, num_layers=2)
        self.out = nn.Linear(hidden, CHARS)

    def forward(self, x, state=None):
        h, state = self.rnn(self.embed(x), state)
        return self.out(h), state


def detach(state):
    return tuple(s.detach() for s in state)


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    total, state = 0.0, None
    for i in range(0, len(data) - 1, args.bptt):
        x, y = data[i : i + args.bptt][: len(data) - 1 - i], data[i + 1 : i + 1 + args.bptt]
        logits, state = model(x, state)
        total += nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
    return total / (data.numel() - data.size(1))


def main():
    text = write_text(14000)
    cut = int(0.9 * len(text))
    train, valid = batchify(text[:cut], args.batch_size), batchify(text[cut:], args.batch_size)
    model = CharLM(torch.randn(CHARS, 24))
    trainable = list(filter(lambda p: p.requires_grad, model.parameters()))
    optimizer = torch.optim.SGD(trainable, lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        model.train()
        state, total, count = None, 0.0, 0
        for i in range(0, len(train) - 1 - args.bptt, args.bptt):
            x, y = train[i : i + args.bptt], train[i + 1 : i + 1 + args.bptt]
            if state is not None:
                state = detach(state)
            logits, state = model(x, state)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(trainable, args.clip)
            optimizer.step()
            total, count = total + loss.item(), count + 1
        val = evaluate(model, valid)
        print(f"epoch {epoch} train loss {total / count:.3f} valid loss {val:.3f} ppl {math.exp(min(val, 20)):.2f}")


if __name__ == "__main__":
    main()
